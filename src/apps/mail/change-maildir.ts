import { afterChange, ServiceError } from "../../service/service-error.ts";
import { createGate, type Gate } from "../../shared/base/concurrency.ts";
import type { ConnectionView } from "../port/integration.ts";
import { refuseChanged } from "../port/preview.ts";
import { type ChangeTerms, isSamePlace, type MailPlace } from "./mail-box.ts";
import { mailFolder } from "./mail-settings.ts";
import { findMessage, findMessages, type MessagePlace, relocateMessage } from "./maildir.ts";
import { toMailPlace } from "./trace-maildir.ts";

const gates = new Map<string, Gate>();

/** One gate for each mailbox, so that simultaneous sends cannot pass a limit together, and changes come one after another. */
export function gateOf(maildir: string): Gate {
  const gate = gates.get(maildir) ?? createGate(1);
  gates.set(maildir, gate);
  return gate;
}

/** A message that was moved since it was listed is not there any more; that is no failure of a search. Throws any other error. */
export function skipMissing(error: unknown): undefined {
  if (error instanceof ServiceError && error.status === 404) return undefined;
  throw error;
}

/** What a change is done with. */
interface Change extends ChangeTerms {
  readonly signal: AbortSignal;
  /** The new flags or folder of a message. */
  change(place: MessagePlace): Parameters<typeof relocateMessage>[2];
}

/** Changes messages one after another; see {@link ChangeTerms}. An error in the middle says how many were changed. */
export async function changeMessages(
  connection: ConnectionView,
  places: readonly MailPlace[],
  { isExact, before, signal, change }: Change,
): Promise<MailPlace[]> {
  const leave = await gateOf(mailFolder.read(connection.settings)).enter(signal);
  try {
    const found = await findMessages(
      connection,
      places.map(({ id }) => id),
    );
    if (isExact) for (const one of found) checkSame(one, places);
    const held = found.map(toMailPlace);
    await before?.(held);
    const known = isExact || before !== undefined ? held : [];
    const changed: MailPlace[] = [];
    for (const place of found) {
      const relocate = (one: MessagePlace) => relocateMessage(connection, one, change(one));
      // Another program may have marked it meanwhile: then its file has another name.
      const tryTwice = () =>
        relocate(place).catch(async (error: unknown) => {
          skipMissing(error);
          const present = await findMessage(connection, place.id);
          checkSame(present, known);
          return relocate(present);
        });
      const first = `The first ${changed.length} of ${places.length} messages`;
      changed.push(toMailPlace(await (changed.length === 0 ? tryTwice() : afterChange(first, tryTwice))));
    }
    return changed;
  } finally {
    leave();
  }
}

/** Throws ServiceError 412 for a message that is not as one of `places` says. The name of its file holds all of that. */
function checkSame(present: MessagePlace, places: readonly MailPlace[]): void {
  const place = places.find(({ id }) => id === present.id);
  if (place !== undefined && !isSamePlace(place, toMailPlace(present))) throw refuseChanged();
}
