import { sha256Hex } from "../../../../shared/base/hash.ts";
import { toPlainText } from "../../../../shared/card/plain-text.ts";
import { readActions } from "../actions/actions-file.ts";
import { applySync, loadsCompanion } from "../actions/apply-sync.ts";
import { type ChangedAction, planSync, type SyncPlan } from "../actions/plan-sync.ts";
import type { SvcHost } from "../svc-host.ts";
import {
  answer,
  answerError,
  askYesNo,
  type CliCall,
  type CommandAnswer,
  canAsk,
  EXIT,
  type Flags,
  say,
} from "./command-answer.ts";

/** Lines of one kind; `openclaw svc sync --dry-run` shows all. */
const MOST_OFFERED = 40;

/**
 * Works out what a sync would change, by the plugin's settings: with the `hash`, 8 hex digits, by which a human agrees to
 * exactly this plan, and its names as `text` (a list longer than `maxLines` is cut, and says so) and as `data`.
 */
export async function preparePlan(host: SvcHost, maxLines = Number.POSITIVE_INFINITY) {
  const account = await host.openAccount(undefined);
  const plan = await planSync(account, readActions(host.places.actions), host.settings().actions);
  const { added, changed, removed, leftOut, next, replacesAccount } = plan;
  const { principal, baseUrl, actions } = next;
  // Without times, so that the same offer seen twice has the same hash.
  const hash = sha256Hex(JSON.stringify([principal, baseUrl, actions])).slice(0, 8);
  const isEmpty = added.length + changed.length + removed.length === 0 && !replacesAccount;
  const data = {
    hash,
    replacesAccount,
    total: actions.length,
    added: added.map(name),
    changed: changed.map((one) => ({ ...name(one), lines: one.lines })),
    removed: removed.map(name),
    leftOut,
  };
  return { plan, hash, isEmpty, text: formatPlan(plan, isEmpty, maxLines), data };
}

function name({ name, toolName, integration, effect }: Omit<ChangedAction, "lines">) {
  return { name, toolName, integration, effect };
}

function formatPlan(plan: SyncPlan, isEmpty: boolean, maxLines: number): string {
  const section = (title: string, all: readonly string[]) => {
    const cut = all.length - maxLines;
    const lines =
      cut > 0
        ? [
            ...all.slice(0, maxLines),
            `and ${cut} more line${cut === 1 ? "" : "s"}: openclaw svc sync shows ${cut === 1 ? "it" : "them"}`,
          ]
        : all;
    return lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`)];
  };
  const describe = ({ name, effect }: Pick<ChangedAction, "name" | "effect">) => `${toPlainText(name)}  (${effect})`;
  const changes = plan.changed.flatMap((one) => [
    describe(one),
    ...one.lines.map((line) => `    ${toPlainText(line)}`),
  ]);
  const leftOut = plan.leftOut.map(
    ({ toolName, count, reason }) => `${toPlainText(toolName ?? `${count} tools`)}: ${toPlainText(reason)}`,
  );
  const total = `${plan.next.actions.length} actions have a tool of their own`;
  return [
    ...(plan.replacesAccount
      ? ["The tools so far were synced with another key, of another account as far as is known: they are replaced."]
      : []),
    ...section("Added", plan.added.map(describe)),
    ...section("Changed", changes),
    ...section("Removed", plan.removed.map(describe)),
    ...section("Left out", leftOut),
    ...plan.notes.map((note) => toPlainText(note)),
    `${total}${isEmpty ? "; nothing changes" : " after this"}.`,
  ].join("\n");
}

/** The end of a pairing in a terminal: offers the sync as `openclaw svc sync` would, and names it where nobody can be asked. */
export async function offerSync({ host, api }: CliCall): Promise<CommandAnswer> {
  const later = "Give each action of your apps a tool of its own with: openclaw svc sync";
  const prepared = await preparePlan(host, MOST_OFFERED).catch((error: unknown) => answerError(error).text);
  // The pairing stands whatever the look at the tools met.
  if (typeof prepared === "string") return answer(`Paired. ${prepared}\n${later}`, { paired: true });
  const { plan, isEmpty, text } = prepared;
  const { actions } = plan.next;
  const what = `${actions.length} tools of ${new Set(actions.map(({ integration }) => integration)).size} apps`;
  const isLoaded = loadsCompanion(api.runtime.config.current(), host.places.companion);
  if (isEmpty && (isLoaded || actions.length === 0)) return answer(`Paired. ${what} work as before.`, { paired: true });
  if (!canAsk()) return answer(`Paired. ${later}`, { paired: true });
  say(text);
  if (!(await askYesNo(`Paired. ${what}: give them to the agent now?`, "y"))) {
    return answer(`Paired. ${later}`, { paired: true });
  }
  const { next, config } = await applySync(host, api, plan);
  return { exit: config.kind === "refused" ? EXIT.failed : EXIT.ok, text: next, data: { paired: true, next } };
}

/** `openclaw svc sync`: shows what would change, asks, applies. */
export async function syncInTerminal({ host, api }: CliCall, flags: Flags): Promise<CommandAnswer> {
  const { plan, text, data, isEmpty } = await preparePlan(host);
  if (flags.dryRun === true) return answer(text, { ...data, applied: false });
  // A plan that changes no name also repairs what loads the tools, and needs no agreement.
  const mustAsk = !isEmpty && flags.yes !== true;
  const refuse = (reason: string) => ({ exit: EXIT.notApproved, text: reason, data: { ...data, applied: false } });
  if (mustAsk && !canAsk()) {
    return refuse(`${text}\nNothing was applied: there is nobody to ask here. Apply it with --yes.`);
  }
  if (mustAsk) {
    say(text);
    if (!(await askYesNo("Apply this?"))) return refuse("Nothing was applied.");
  }
  const { config, next } = await applySync(host, api, plan);
  const exit = config.kind === "refused" ? EXIT.failed : EXIT.ok;
  return { exit, text: mustAsk ? next : `${text}\n${next}`, data: { ...data, applied: true, next } };
}
