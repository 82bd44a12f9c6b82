import { readFileSync, statSync } from "node:fs";
import { isRecord } from "../../../../shared/base/json.ts";
import type { Effect } from "../../../calls/ask/request.ts";

/** One action of the service as a tool of its own. */
export interface ActionRecord {
  /** As the model calls it: at most 64 of `[A-Za-z0-9_-]`, unique whatever its letter case. */
  readonly name: string;
  /** Full name on the service. */
  readonly toolName: string;
  readonly integration: string;
  readonly effect: Effect;
  /** True when a human is asked before anything is sent. */
  readonly asksFirst: boolean;
  /** At most 1,024 characters, and behind them the accounts where there are several. */
  readonly description: string;
  /** JSON Schema of the arguments as the model may see it. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** SHA-256 of the service's own schema. */
  readonly schemaHash: string;
}

/** Differences between the service and the tools a human agreed to; `openclaw svc sync` shows and applies them. */
export interface PendingChanges {
  /** ISO time of the look. */
  readonly at: string;
  /** Full names of tools the service did not offer then. */
  readonly added: readonly string[];
  /** Full names of action tools with another effect now; a plain read that may act now is not offered meanwhile. */
  readonly changed: readonly string[];
  /** Full names of action tools the service does not offer any more. */
  readonly removed: readonly string[];
}

/** The action tools a human agreed to. */
export interface ActionsFile {
  readonly version: 1;
  /** Non-secret id of service and key; the actions are offered to this account only. */
  readonly principal: string;
  readonly baseUrl: string;
  /** ISO time of the sync a human agreed to. */
  readonly syncedAt: string;
  /** ISO time descriptions and schemas were last compared with the service. */
  readonly checkedAt: string;
  /** By integration, then name. */
  readonly actions: readonly ActionRecord[];
  /** How many known tools have no name of their own here. */
  readonly leftOut: number;
  /** Full names of all tools the service listed at the sync; new tools are found by comparison. */
  readonly listed: readonly string[];
  readonly pending?: PendingChanges | undefined;
}

/** True for a tool that the host may repeat. */
export function isPlainRead({ effect, asksFirst }: Pick<ActionRecord, "effect" | "asksFirst">): boolean {
  return effect === "read" && !asksFirst;
}

const readings = new Map<string, { readonly stamp: string; readonly file: ActionsFile | undefined }>();

/**
 * Reads the action tools, synchronously and without parsing a file that has not changed since (time, size, inode).
 * Undefined for a missing or damaged file; damage is reported to `onDamage` once per change.
 */
export function readActions(path: string, onDamage?: (reason: string) => void): ActionsFile | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) {
    readings.delete(path);
    return undefined;
  }
  const stamp = `${stats.mtimeNs}:${stats.size}:${stats.ino}`;
  const known = readings.get(path);
  if (known?.stamp === stamp) return known.file;
  const parsed = parseFile(path);
  if (typeof parsed === "string") onDamage?.(parsed);
  const file = typeof parsed === "string" ? undefined : parsed;
  readings.set(path, { stamp, file });
  return file;
}

/** Replaces the file atomically, mode 0600. */
export async function writeActions(path: string, file: ActionsFile): Promise<void> {
  const { replaceFile } = await import("../../../../shared/base/disk.ts");
  await replaceFile(path, `${JSON.stringify(file)}\n`);
}

function parseFile(path: string): ActionsFile | string {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    return isActionsFile(value) ? value : "it has another form";
  } catch (error) {
    return error instanceof SyntaxError ? "it is not JSON" : "it cannot be read";
  }
}

/** By hand, since a host that lists tools loads no package for it, and only as far as a name could harm the host. */
function isActionsFile(value: unknown): value is ActionsFile {
  if (!isRecord(value) || value.version !== 1) return false;
  const { principal, baseUrl, syncedAt, checkedAt, actions, listed, pending } = value;
  const hasTexts = [principal, baseUrl, syncedAt, checkedAt].every((text) => typeof text === "string");
  return hasTexts && isPending(pending) && isList(listed) && Array.isArray(actions) && actions.every(isAction);
}

const isList = (value: unknown) => Array.isArray(value);

function isPending(value: unknown): boolean {
  return value === undefined || (isRecord(value) && [value.added, value.changed, value.removed].every(isList));
}

const EFFECTS: ReadonlySet<unknown> = new Set<Effect>(["read", "write", "delete", "admin", "unknown"]);

function isAction(value: unknown): boolean {
  if (!isRecord(value) || !isRecord(value.parameters) || !EFFECTS.has(value.effect)) return false;
  const { name, toolName, description, asksFirst } = value;
  const isNamed = typeof name === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(name);
  return isNamed && typeof toolName === "string" && typeof description === "string" && typeof asksFirst === "boolean";
}
