import { toPlainText } from "../../shared/card/plain-text.ts";
import { takeMachineChanges } from "../auth/machine-changes.ts";
import type { Person } from "../auth/people.ts";
import type { ServiceLog } from "../service-error.ts";
import type { Store } from "../store/open-store.ts";

/** Who made a change with a command on the machine of the service. */
const MACHINE_ID = "machine";

/** A change that a person made, for the operator of the service. */
export interface Change {
  /** Its kind for programs, e.g. `device.revoked`. */
  readonly event: string;
  /** Verb and thing, e.g. `revoked the device`. */
  readonly did: string;
  /** The name of the thing, as somebody chose it. */
  readonly name?: string | null | undefined;
  readonly id?: string | undefined;
  /** Network address of the person, where it is told. */
  readonly address?: string | undefined;
  /** When it was made, where that is not now (ISO 8601). */
  readonly at?: string | undefined;
}

const MAX_NAME = 80;

/** Writes an audit line: who changed what. */
export function logChange(
  log: ServiceLog,
  by: Pick<Person, "id" | "name">,
  { event, did, name, id, address, at }: Change,
): void {
  const who = toPlainText(by.name, { max: MAX_NAME });
  const what = name == null ? undefined : toPlainText(name, { max: MAX_NAME });
  const thing = [what && JSON.stringify(what), id && `(${id})`, address && `from ${address}`, at && `at ${at}`]
    .filter(Boolean)
    .join(" ");
  log({
    level: "info",
    message: `${JSON.stringify(who)} (${by.id}) ${[did, thing].filter(Boolean).join(" ")}`,
    facts: {
      event,
      by: who,
      by_id: by.id,
      ...(what && { name: what }),
      ...(id && { id }),
      ...(address && { address }),
      ...(at && { at }),
    },
  });
}

/** Writes such lines for what commands on the machine changed since the last look. */
export function logMachineChanges(store: Store, log: ServiceLog): Promise<void> {
  return takeMachineChanges(store, ({ by, ...change }) => logChange(log, { id: MACHINE_ID, name: by }, change));
}
