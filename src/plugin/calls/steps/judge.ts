import type { OriginScope } from "../../../shared/card/origin-words.ts";
import type { Origin } from "../../../shared/wire/origin.ts";
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
    if (told === undefined || told.of !== fingerprintRequest(context, plan)) {
      const origins = await context.answers.judge(plan.arguments, await context.said.read());
      return { origins, originScope: "session" };
    }
    const origins = await markSaid(context.said, plan.arguments, told.origins);
    return { origins, originScope: told.isPartial ? "partial" : undefined };
  } catch {
    return { origins: [], originScope: undefined };
  }
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
