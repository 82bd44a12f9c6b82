import type { OriginScope } from "../../../shared/card/origin-words.ts";
import { isPlace, type Origin } from "../../../shared/wire/origin.ts";
import { readLocalTexts } from "../origins/local-texts.ts";
import { type CallContext, type CallPlan, fingerprintRequest } from "./plan.ts";

/** Where the values of a call come from, and what was looked at. */
export interface Judged {
  readonly origins: readonly Origin[];
  readonly originScope: OriginScope | undefined;
}

/**
 * Finds where the values of a call come from, for whoever is asked: as the service says, else by what the tools of this session
 * answered. What the human typed is known here only, and counts first. Never fails: it is advice.
 */
export async function judge(context: CallContext, plan: CallPlan): Promise<Judged> {
  if (context.own !== undefined) return { origins: [], originScope: undefined };
  const { told } = plan;
  try {
    const files = await readLocalTexts(context.roots, plan.files);
    const said = await context.said.read();
    if (told === undefined || told.of !== fingerprintRequest(context, plan)) {
      const origins = await context.answers.judge({ args: plan.arguments, files }, said);
      return { origins, originScope: "session" };
    }
    const marked = await markSaid(context.said, plan.arguments, told.origins);
    const inFiles = files.length === 0 ? [] : await context.answers.judge({ args: {}, files }, said);
    return { origins: [...marked, ...inFiles.filter(isToldHere)], originScope: told.isPartial ? "partial" : undefined };
  } catch {
    return { origins: [], originScope: undefined };
  }
}

/** Apps whose answers are mostly data of the owner's own. */
const OWN_APPS: ReadonlySet<string> = new Set(["calendar", "contacts", "drive", "notes"]);

/**
 * Bytes of a local file leave this device after the approval alone, so that the service cannot say whether the owner has such a
 * value. Here it is known what was typed, and what an answer brought.
 */
function isToldHere(one: Origin): boolean {
  if (one.origin !== "somebody") return one.origin === "you";
  return isPlace(one) || !OWN_APPS.has(one.source?.app ?? "");
}

/** Only this device knows what its human typed: a service that says so by itself is not believed. */
async function markSaid(
  said: CallContext["said"],
  args: CallPlan["arguments"],
  origins: readonly Origin[],
): Promise<Origin[]> {
  const name = ({ argument, value }: Origin) => JSON.stringify([argument, value]);
  const typed = new Set((await said.find(args)).map(name));
  const marked = origins.map(async (one): Promise<Origin> => {
    if (typed.has(name(one)) || (one.origin === "you" && (await said.holds(one)))) {
      const { source: _, looks_like: __, ...rest } = one;
      return { ...rest, origin: "you" };
    }
    return one.origin === "you" ? { ...one, origin: "unseen" } : one;
  });
  return Promise.all(marked);
}
