import { sha256Hex } from "../../../base/hash.ts";
import { toPlainText } from "../../../wire/plain-text.ts";
import { readActions } from "../actions/actions-file.ts";
import { applySync } from "../actions/apply-sync.ts";
import { type ChangedAction, planSync, type SyncPlan } from "../actions/plan-sync.ts";
import type { SvcHost } from "../svc-host.ts";
import type { CliCall } from "./cli-commands.ts";
import { askYesNo, canAsk, say } from "./cli-output.ts";
import { answer, type CommandAnswer, EXIT } from "./command-answer.ts";

/** A plan and the short hash by which a human agrees to exactly this one. */
interface ShownPlan {
  readonly plan: SyncPlan;
  /** 8 hex digits over everything that would be applied. */
  readonly hash: string;
  readonly isEmpty: boolean;
}

/** Works out what a sync would change, by the plugin's settings. */
export async function preparePlan(host: SvcHost): Promise<ShownPlan> {
  const account = await host.openAccount(undefined);
  const { integrations, limit } = host.settings().actions;
  const plan = await planSync(account, readActions(host.places.actions), { integrations, limit });
  const isEmpty = plan.added.length + plan.changed.length + plan.removed.length === 0 && !plan.replacesAccount;
  return { plan, hash: hashPlan(plan), isEmpty };
}

/**
 * The plan for a human: every name that comes, changes and goes, and what is left out. With `maxLines` a longer list is
 * cut, and says so.
 */
export function formatPlan(
  { plan, isEmpty }: ShownPlan,
  { maxLines = Number.POSITIVE_INFINITY }: { readonly maxLines?: number } = {},
): string {
  const section = (title: string, all: readonly string[]) => {
    const cut = all.length - maxLines;
    const lines = cut > 0 ? [...all.slice(0, maxLines), `and ${cut} more lines: openclaw svc sync shows them`] : all;
    return lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`)];
  };
  const { added, changed, removed, leftOut, next, notes } = plan;
  const lines = [
    ...(plan.replacesAccount ? ["These are another account's actions: all tools of the one before go."] : []),
    ...section("Added", added.map(describe)),
    ...section(
      "Changed",
      changed.flatMap((one) => [describe(one), ...one.lines.map((line) => `    ${toPlainText(line)}`)]),
    ),
    ...section("Removed", removed.map(describe)),
    ...section(
      "Left out",
      leftOut.map(
        ({ toolName, count, reason }) => `${toPlainText(toolName ?? `${count} tools`)}: ${toPlainText(reason)}`,
      ),
    ),
    ...notes.map((note) => toPlainText(note)),
  ];
  const total = `${next.actions.length} actions have a tool of their own${isEmpty ? "; nothing changes" : " after this"}.`;
  return [...lines, total].join("\n");
}

/** The plan as data, without the schemas. */
export function describePlan({ plan, hash }: ShownPlan) {
  const { added, changed, removed, leftOut, next, replacesAccount } = plan;
  const name = ({ name, toolName, integration, effect }: Omit<ChangedAction, "lines">) => ({
    name,
    toolName,
    integration,
    effect,
  });
  return {
    hash,
    replacesAccount,
    total: next.actions.length,
    added: added.map(name),
    changed: changed.map((one) => ({ ...name(one), lines: one.lines })),
    removed: removed.map(name),
    leftOut,
  };
}

function describe({ name, effect }: { readonly name: string; readonly effect: string }): string {
  return `${toPlainText(name)}  (${effect})`;
}

/** Times are left out, so that the same offer seen twice has the same hash. */
function hashPlan({ next: { principal, baseUrl, actions } }: SyncPlan): string {
  return sha256Hex(JSON.stringify([principal, baseUrl, actions])).slice(0, 8);
}

/** `openclaw svc sync`: shows what would change, asks, applies. */
export async function syncInTerminal(
  { host, api }: CliCall,
  flags: Readonly<Record<string, unknown>>,
): Promise<CommandAnswer> {
  const shown = await preparePlan(host);
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
