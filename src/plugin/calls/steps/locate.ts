import { locateFiles } from "../../media/locate/locate-files.ts";
import { fillFileArguments, inspectFiles } from "../../media/send/inspect-files.ts";
import { throwIfAborted } from "../ask/abort.ts";
import { cleanText, createOutcome } from "../outcome.ts";
import { type CallContext, type CallPlan, mustAskAbout, proceed, type Step, stop } from "./plan.ts";

/** Step 3. Finds the files among the arguments and normalises their references. Reads no file. */
export function locate(_: unknown, plan: CallPlan): Step<CallPlan> {
  const { args, files } = locateFiles(plan.entry.inputSchema, plan.arguments);
  return proceed({ ...plan, arguments: args, located: files });
}

/**
 * Opens and hashes the located files, so that a human can see them before they are sent. A refused file ends the call;
 * nothing is sent and no file stays open.
 */
export async function inspect(
  context: Pick<CallContext, "own" | "roots" | "signal" | "pins">,
  plan: CallPlan,
): Promise<Step<CallPlan>> {
  const mustAsk = mustAskAbout(context, plan.entry);
  if (plan.located.length === 0 && plan.notes.length === 0) return proceed({ ...plan, files: [], mustAsk });
  const { signal } = context;
  const inspected = await inspectFiles(context.roots, plan.located, { signal });
  throwIfAborted(signal);
  if (!inspected.ok) {
    const { code, message, hint } = inspected.refusal;
    const told = { code, message: `${cleanText(message)} Nothing was sent.`, hint: cleanText(hint), retryable: false };
    return stop(createOutcome("failed", plan.entry.name, told));
  }
  const { files } = inspected;
  const fileNotes = files.flatMap(({ field, note }) => (note === undefined ? [] : [`${field}: ${note}`]));
  // With the name and type to be sent, which the inspection may have corrected.
  const named = files.map((file) => ({ ...file, pointer: file.reference }));
  return proceed({
    ...plan,
    arguments: fillFileArguments(plan.arguments, named),
    files,
    mustAsk,
    notes: [...plan.notes, ...fileNotes].map((note) => cleanText(note, 240)),
  });
}
