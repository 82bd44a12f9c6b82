import { keepWithin } from "../../../../shared/base/tool-budget.ts";
import { type CatalogEntry, compareSchemas } from "../../../calls/catalog/catalog-entry.ts";
import type { AccountSession } from "../setup/account-session.ts";
import type { ActionRecord, ActionsFile } from "./actions-file.ts";
import { collectActions, type LeftOutTool, listOffered } from "./collect-actions.ts";
import { countDeclarable } from "./companion.ts";

/** An action tool that is not as it was. */
export interface ChangedAction extends Pick<ActionRecord, "name" | "toolName" | "integration" | "effect"> {
  /** The differences, one line each; never empty. */
  readonly lines: readonly string[];
}

/** The changes a sync would make; nothing is written before a human agreed. */
export interface SyncPlan {
  /** The complete file to write. */
  readonly next: ActionsFile;
  readonly added: readonly ActionRecord[];
  readonly changed: readonly ChangedAction[];
  readonly removed: readonly ActionRecord[];
  /** Never silent: show every line. */
  readonly leftOut: readonly LeftOutTool[];
  /** Further lines for the human. */
  readonly notes: readonly string[];
  /** True when the current actions were another account's: all of them are replaced. */
  readonly replacesAccount: boolean;
}

/** Settings of `planSync`. */
export interface PlanOptions {
  /** Only these apps, by slug; default all. */
  readonly integrations?: readonly string[] | undefined;
  /** Most action tools; default 1,000. Those already there come first. */
  readonly limit?: number | undefined;
  /** Most tokens of all of them, at four characters each; with more there is none, and the model searches. Default: any number. */
  readonly maxToolTokens?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds since the epoch; for tests. */
  readonly now?: (() => number) | undefined;
}

/** Most names in one note. */
const MAX_NAMES = 20;

/**
 * Reads the service's tools and plans the changes of a sync. Writes nothing. Load it lazily: it imports the catalog's
 * rooms.
 *
 * @throws SvcError for an unreachable service or a key it does not accept; an AbortError when the signal fires
 */
export async function planSync(
  account: AccountSession,
  current: ActionsFile | undefined,
  { integrations, limit = 1_000, maxToolTokens, signal, now = Date.now }: PlanOptions = {},
): Promise<SyncPlan> {
  const { catalog, client, principal } = account.session;
  const { baseUrl } = client;
  const replacesAccount = current !== undefined && (current.principal !== principal || current.baseUrl !== baseUrl);
  const before = replacesAccount ? [] : (current?.actions ?? []);
  const { listed, omitted } = await listOffered(catalog, integrations, signal);
  const chosen = agreedFirst(listed, new Set(before.map(({ toolName }) => toolName))).slice(0, limit);
  const names = chosen.map(({ name }) => name);
  const { records, leftOut, failures } = await collectActions(catalog, names, signal);
  const kept = keepUndescribed(before, failures, records);
  const inOrder = agreedFirst([...records, ...kept].sort(compareRecords), new Set(before.map(({ name }) => name)));
  const declarable = countDeclarable(inOrder);
  const offered = inOrder.slice(0, declarable).sort(compareRecords);
  const actions = keepFitting(offered, maxToolTokens);
  const at = new Date(now()).toISOString();
  const allLeftOut = [
    ...leftOut,
    ...explainFailures(chosen, failures, kept),
    ...leaveOut(
      inOrder.length - declarable,
      `OpenClaw loads ${declarable} tools of one plugin at most; name the apps you need in actions.integrations.`,
    ),
    ...leaveOut(
      offered.length - actions.length,
      `They come to more than ${maxToolTokens} tokens (setting actions.maxToolTokens): the agent searches.`,
    ),
    ...leaveOut(
      listed.length - chosen.length,
      `Only ${limit} tools are offered under their own names (setting actions.limit).`,
    ),
    ...omitted.flatMap(({ integration, count }) =>
      leaveOut(count, "The service's list was cut; svc_search_tools finds them.", integration ?? undefined),
    ),
  ];
  return {
    next: {
      version: 1,
      principal,
      baseUrl,
      syncedAt: at,
      checkedAt: at,
      actions,
      leftOut: allLeftOut.reduce((sum, { count }) => sum + count, 0),
      listed: listed.map(({ name }) => name),
    },
    ...compareActions(current?.actions ?? [], actions),
    leftOut: allLeftOut,
    notes: kept.length === 0 ? [] : [`Not described now, so they stay as they were: ${listNames(kept)}.`],
    replacesAccount,
  };
}

/** Tools a human has agreed to before come first, so that a longer list does not push them out. */
function agreedFirst<Tool extends { readonly name: string }>(tools: readonly Tool[], agreed: ReadonlySet<string>) {
  return [...tools.filter(({ name }) => agreed.has(name)), ...tools.filter(({ name }) => !agreed.has(name))];
}

function keepFitting(actions: readonly ActionRecord[], maxToolTokens: number | undefined): readonly ActionRecord[] {
  if (maxToolTokens === undefined) return actions;
  return keepWithin(
    actions.map((action) => ({ ...action, schema: action.parameters })),
    maxToolTokens,
  ).map(({ schema: _, ...action }) => action);
}

function leaveOut(count: number, reason: string, integration?: string): LeftOutTool[] {
  return count === 0 ? [] : [{ toolName: undefined, integration, count, reason }];
}

/** A service that is busy for a moment must not take tools away. */
function keepUndescribed(
  before: readonly ActionRecord[],
  failures: ReadonlyMap<string, string>,
  records: readonly ActionRecord[],
): ActionRecord[] {
  const taken = new Set(records.map(({ name }) => name.toLowerCase()));
  return before.filter(({ toolName, name }) => failures.has(toolName) && !taken.has(name.toLowerCase()));
}

function listNames(records: readonly ActionRecord[]): string {
  const names = records.slice(0, MAX_NAMES).map(({ name }) => name);
  const more = records.length - names.length;
  return names.join(", ") + (more === 0 ? "" : ` and ${more} more`);
}

function explainFailures(
  chosen: readonly CatalogEntry[],
  failures: ReadonlyMap<string, string>,
  kept: readonly ActionRecord[],
): LeftOutTool[] {
  const isKept = new Set(kept.map(({ toolName }) => toolName));
  return chosen.flatMap(({ name: toolName, integration }) => {
    const reason = failures.get(toolName);
    return reason === undefined || isKept.has(toolName) ? [] : [{ toolName, integration, count: 1, reason }];
  });
}

function compareActions(before: readonly ActionRecord[], after: readonly ActionRecord[]) {
  const known = new Map(before.map((record) => [record.name, record]));
  const names = new Set(after.map(({ name }) => name));
  return {
    added: after.filter(({ name }) => !known.has(name)),
    removed: before.filter(({ name }) => !names.has(name)),
    changed: after.flatMap((record): ChangedAction[] => {
      const old = known.get(record.name);
      const lines = old === undefined ? [] : describeChange(old, record);
      const { name, toolName, integration, effect } = record;
      return lines.length === 0 ? [] : [{ name, toolName, integration, effect, lines }];
    }),
  };
}

/** The differences for an agent that calls the tool or a human who agrees to it; a new wording is no change. */
function describeChange(old: ActionRecord, record: ActionRecord): string[] {
  const lines: string[] = [];
  if (old.toolName !== record.toolName) lines.push(`it stands for ${record.toolName} now, for ${old.toolName} before`);
  if (old.effect !== record.effect) lines.push(`its effect is ${record.effect} now, ${old.effect} before`);
  if (old.asksFirst !== record.asksFirst) {
    lines.push(record.asksFirst ? "it asks for approval now" : "it does not ask for approval any more");
  }
  const schemaLines = compareSchemas(old.parameters, record.parameters);
  if (schemaLines.length === 0 && old.schemaHash !== record.schemaHash) {
    schemaLines.push("its schema changed in parts a model is not shown");
  }
  return [...lines, ...schemaLines];
}

function compareRecords(a: ActionRecord, b: ActionRecord): number {
  return compare(a.integration, b.integration) || compare(a.name, b.name);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
