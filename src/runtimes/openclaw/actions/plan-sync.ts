import type { CatalogEntry } from "../../../calls/catalog/catalog-entry.ts";
import { compareSchemas } from "../../../calls/catalog/catalog-entry.ts";
import type { AccountSession } from "../setup/account-session.ts";
import type { ActionRecord, ActionsFile } from "./actions-file.ts";
import { collectActions, describeActions } from "./collect-actions.ts";
import { countDeclarable } from "./companion.ts";

/** Most action tools without a setting of the user's. */
const DEFAULT_LIMIT = 1_000;
/** Most names in one note. */
const MAX_NAMES = 20;

/**
 * Looks at what the service offers and works out what a sync would change. Writes nothing. Load it lazily: it brings the
 * catalogue's rooms along.
 *
 * @throws SvcError for an unreachable service or a key it does not accept; an AbortError when the signal fires
 */
export async function planSync(
  account: AccountSession,
  current: ActionsFile | undefined,
  options: PlanOptions = {},
): Promise<SyncPlan> {
  const { catalog, client, principal } = account.session;
  const { integrations, signal, now = Date.now } = options;
  const isSameAccount = current === undefined || isOfAccount(current, { principal, baseUrl: client.baseUrl });
  const before = isSameAccount ? (current?.actions ?? []) : [];
  const report = await catalog.sync({
    ...(integrations === undefined ? {} : { integrations }),
    ...(signal === undefined ? {} : { signal }),
  });
  const listed = catalog.list().filter(({ integration }) => integrations?.includes(integration) ?? true);
  const { chosen, rest } = choose(listed, before, options.limit ?? DEFAULT_LIMIT);
  const described = await describeActions(
    catalog,
    chosen.map(({ name }) => name),
    { signal },
  );
  const { records, leftOut } = collectActions([...described.entries.values()]);
  const kept = keepUndescribed(before, described.failures, records);
  const declarable = limitToManifest([...records, ...kept], before);
  const actions = declarable.actions.sort(compareRecords);
  const at = new Date(now()).toISOString();
  const allLeftOut = [
    ...leftOut,
    ...explainFailures(chosen, described.failures, kept),
    ...declarable.leftOut,
    ...rest,
    ...report.omitted.map(toLeftOut),
  ];
  return {
    next: {
      version: 1,
      principal,
      baseUrl: client.baseUrl,
      syncedAt: at,
      checkedAt: at,
      actions,
      leftOut: allLeftOut.reduce((sum, { count }) => sum + count, 0),
      listed: listed.map(({ name }) => name),
    },
    ...compareActions(current?.actions ?? [], actions),
    leftOut: allLeftOut,
    notes: kept.length === 0 ? [] : [`Not described now, so they stay as they were: ${listNames(kept)}.`],
    replacesAccount: !isSameAccount,
  };
}

/** True when the actions belong to this account. */
function isOfAccount(
  file: Pick<ActionsFile, "principal" | "baseUrl">,
  account: { readonly principal: string; readonly baseUrl: string },
): boolean {
  return file.principal === account.principal && file.baseUrl === account.baseUrl;
}

/** Within the limit, tools a human has agreed to before come first, so that a longer list does not push them out. */
function choose(listed: readonly CatalogEntry[], before: readonly ActionRecord[], limit: number) {
  const agreed = new Set(before.map(({ toolName }) => toolName));
  const first = listed.filter(({ name }) => agreed.has(name));
  const others = listed.filter(({ name }) => !agreed.has(name));
  const chosen = [...first, ...others].slice(0, limit);
  const over = listed.length - chosen.length;
  const reason = `Only ${limit} tools are offered under their own names (setting actions.limit).`;
  const rest: LeftOutTool[] = over === 0 ? [] : [{ toolName: undefined, integration: undefined, count: over, reason }];
  return { chosen, rest };
}

/** As many as one plugin of the host may declare, those a human has agreed to first. */
function limitToManifest(records: readonly ActionRecord[], before: readonly ActionRecord[]) {
  const agreed = new Set(before.map(({ name }) => name));
  const inOrder = [
    ...records.filter(({ name }) => agreed.has(name)),
    ...records.filter(({ name }) => !agreed.has(name)).sort(compareRecords),
  ];
  const count = countDeclarable(inOrder);
  const over = inOrder.length - count;
  const reason = `OpenClaw loads ${count} tools of one plugin at most; name the apps you need in actions.integrations.`;
  const leftOut: LeftOutTool[] =
    over === 0 ? [] : [{ toolName: undefined, integration: undefined, count: over, reason }];
  return { actions: inOrder.slice(0, count), leftOut };
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

function toLeftOut({ integration, count }: { integration: string | null; count: number }): LeftOutTool {
  const reason = "The service's list was cut; svc_search_tools finds them.";
  return { toolName: undefined, integration: integration ?? undefined, count, reason };
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

/** What is different for whoever calls the tool or agrees to it; a new wording is no change. */
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

/** A tool the sync did not turn into an action tool; `svc_call_tool` may still reach it. */
export interface LeftOutTool {
  /** Full name; undefined for tools a cut list only counts. */
  readonly toolName: string | undefined;
  readonly integration: string | undefined;
  /** How many tools: 1 when `toolName` is known. */
  readonly count: number;
  /** One sentence for the human. */
  readonly reason: string;
}

/** An action tool that is not as it was. */
export interface ChangedAction {
  readonly name: string;
  readonly toolName: string;
  readonly integration: string;
  readonly effect: ActionRecord["effect"];
  /** What is different, one line each; never empty. */
  readonly lines: readonly string[];
}

/** What a sync would do; nothing is written before a human agreed. */
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
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds since the epoch; for tests. */
  readonly now?: (() => number) | undefined;
}
