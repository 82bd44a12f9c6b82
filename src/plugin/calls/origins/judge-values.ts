import { collectForms } from "../../../shared/seen/collect-forms.ts";
import type { Evidence } from "../../../shared/seen/evidence.ts";
import { judgeCall } from "../../../shared/seen/judge-call.ts";
import type { KnownPlaces } from "../../../shared/seen/look-alikes.ts";
import { createEvidence, type GrowingEvidence } from "../../../shared/seen/memory-evidence.ts";
import type { Origin } from "../../../shared/wire/origin.ts";

/** The words as evidence, with addresses and hosts in them as they are compared. */
export interface SaidEvidence extends Evidence {
  readonly known: KnownPlaces;
}

/** What is judged: arguments, and texts of files by the path of their argument. */
export interface DeviceValues {
  readonly args: Readonly<Record<string, unknown>>;
  readonly files: readonly { readonly argument: string; readonly text: string }[];
}

/** Most values of the words of one call. */
const MAX_SAID_FORMS = 20_000;
/** Most values of the answers of a session: what is older is forgotten. */
const MAX_ANSWER_FORMS = 100_000;

const NOTHING: Evidence = { find: () => undefined };

/** Reads the human's words. */
export function readSaid(words: readonly string[]): SaidEvidence {
  const evidence = createEvidence({ limit: MAX_SAID_FORMS });
  evidence.note({ source: { whose: "yours", app: "", kind: "said" }, content: words });
  const forms = collectForms(words);
  const pick = (kind: string) =>
    forms.flatMap((form) => (form.startsWith(`${kind}:`) ? form.slice(kind.length + 1) : []));
  return { find: (form) => evidence.find(form), known: { addresses: pick("address"), hosts: pick("host") } };
}

/** Judges arguments by the human's words alone. */
export function judgeSaid(said: SaidEvidence, args: DeviceValues["args"]): readonly Origin[] {
  return judgeCall({ args, files: [] }, { said, own: NOTHING, seen: NOTHING });
}

/** Starts evidence of what the tools of a session answered. */
export function createAnswerEvidence(): GrowingEvidence {
  return createEvidence({ limit: MAX_ANSWER_FORMS });
}

/** Judges values by what tools answered and what the human typed. */
export function judgeAnswered(
  values: DeviceValues,
  { said, seen }: { readonly said: SaidEvidence | undefined; readonly seen: Evidence },
): readonly Origin[] {
  return judgeCall(values, { said, own: NOTHING, seen, known: said?.known });
}
