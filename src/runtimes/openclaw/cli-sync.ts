import { applySync } from "./apply-sync.ts";
import type { CliCall } from "./cli-commands.ts";
import { askYesNo, canAsk, say } from "./cli-output.ts";
import { answer, type CommandAnswer, EXIT } from "./command-answer.ts";
import { describePlan, formatPlan, preparePlan } from "./sync-command.ts";

/** `openclaw svc sync`: shows what would change, asks, applies. */
export async function syncInTerminal(
  { host, api }: CliCall,
  flags: Readonly<Record<string, unknown>>,
): Promise<CommandAnswer> {
  const shown = await preparePlan(host, {});
  const text = formatPlan(shown);
  const data = describePlan(shown);
  if (flags.dryRun === true) return answer(text, { ...data, applied: false });
  // A plan that changes no name also repairs what loads the tools, and needs no agreement.
  if (!shown.isEmpty && flags.yes !== true) {
    if (!canAsk()) {
      const refusal = `${text}\nNothing was applied: there is nobody to ask here. Apply it with --yes.`;
      return { exit: EXIT.notApproved, text: refusal, data: { ...data, applied: false } };
    }
    say(text);
    if (!(await askYesNo("Apply this?"))) {
      return { exit: EXIT.notApproved, text: "Nothing was applied.", data: { ...data, applied: false } };
    }
  }
  const report = await applySync(host, api, shown.plan);
  const isSaid = !shown.isEmpty && flags.yes !== true;
  const lines = [...(isSaid ? [] : [text]), report.next];
  const exit = report.config.kind === "refused" ? EXIT.failed : EXIT.ok;
  return { exit, text: lines.join("\n"), data: { ...data, applied: true, next: report.next } };
}
