import { createHash } from "node:crypto";
import { toPlainText } from "../../wire/plain-text.ts";
import { readActions } from "./actions-file.ts";
import { planSync } from "./plan-sync.ts";
import type { SvcHost } from "./svc-host.ts";
import type { PlanOptions, SyncPlan } from "./sync-plan.ts";

/** A plan and the short hash by which a human agrees to exactly this one. */
export interface ShownPlan {
  readonly plan: SyncPlan;
  /** 8 hex digits over everything that would be applied. */
  readonly hash: string;
  readonly isEmpty: boolean;
}

/** Works out what a sync would change, by the plugin's settings. */
export async function preparePlan(
  host: SvcHost,
  options: Pick<PlanOptions, "signal" | "onProgress">,
): Promise<ShownPlan> {
  const desk = await host.openDesk(undefined);
  const { integrations, limit } = host.settings().actions;
  const plan = await planSync(desk, readActions(host.places.actions), { ...options, integrations, limit });
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
    ...section(
      "Added",
      added.map((record) => describe(record)),
    ),
    ...section(
      "Changed",
      changed.flatMap((one) => [describe(one), ...one.lines.map((line) => `    ${toPlainText(line)}`)]),
    ),
    ...section(
      "Removed",
      removed.map((record) => describe(record)),
    ),
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
  const name = ({
    name,
    toolName,
    integration,
    effect,
  }: {
    name: string;
    toolName: string;
    integration: string;
    effect: string;
  }) => ({
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
  return createHash("sha256")
    .update(JSON.stringify([principal, baseUrl, actions]))
    .digest("hex")
    .slice(0, 8);
}
