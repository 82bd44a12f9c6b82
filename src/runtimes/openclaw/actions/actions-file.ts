import { readFileSync, statSync } from "node:fs";
import { isRecord } from "../../../base/json.ts";
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
  /** At most 1,024 characters. */
  readonly description: string;
  /** JSON Schema of the arguments as the model may see it. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** SHA-256 of the service's own schema. */
  readonly schemaHash: string;
}

/** What a look at the service found different from what a human agreed to; `openclaw svc sync` shows and applies it. */
export interface PendingChanges {
  /** ISO time of the look. */
  readonly at: string;
  /** Full names of tools the service did not offer then. */
  readonly added: readonly string[];
  /** Full names of action tools whose effect is another one now; one that was a plain read is not offered meanwhile. */
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
  /** Full names of everything the service listed at the sync, by which new tools are known. */
  readonly listed: readonly string[];
  readonly pending?: PendingChanges | undefined;
}

/** True for a tool that the host is told it may repeat. */
export function isPlainRead({ effect, asksFirst }: Pick<ActionRecord, "effect" | "asksFirst">): boolean {
  return effect === "read" && !asksFirst;
}

interface Reading {
  readonly stamp: string;
  readonly file: ActionsFile | undefined;
}

const readings = new Map<string, Reading>();

/**
 * Reads the action tools, synchronously and without parsing a file that has not changed since (time, size, inode).
 * Undefined when there is none; a damaged one counts as none and is told to `onDamage` once per change.
 */
export function readActions(path: string, onDamage?: (reason: string) => void): ActionsFile | undefined {
  const stamp = readStamp(path);
  if (stamp === undefined) {
    readings.delete(path);
    return undefined;
  }
  const known = readings.get(path);
  if (known?.stamp === stamp) return known.file;
  const file = parseFile(path);
  if (typeof file === "string") onDamage?.(file);
  const reading = { stamp, file: typeof file === "string" ? undefined : file };
  readings.set(path, reading);
  return reading.file;
}

/** Replaces the file atomically, mode 0600. */
export async function writeActions(path: string, file: ActionsFile): Promise<void> {
  const { replaceFile } = await import("../../../base/disk.ts");
  await replaceFile(path, `${JSON.stringify(file)}\n`);
}

function readStamp(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.mtimeNs}:${stats.size}:${stats.ino}`;
}

function parseFile(path: string): ActionsFile | string {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    return error instanceof SyntaxError ? "it is not JSON" : "it cannot be read";
  }
  if (!isRecord(value) || value.version !== 1) return "it has another form";
  const { principal, baseUrl, syncedAt, checkedAt, actions, leftOut, listed, pending } = value;
  const hasTexts = [principal, baseUrl, syncedAt, checkedAt].every((text) => typeof text === "string");
  if (!hasTexts || typeof leftOut !== "number" || !isTexts(listed)) return "it has another form";
  if (!Array.isArray(actions) || !actions.every(isAction)) return "it has another form";
  if (pending !== undefined && !isPending(pending)) return "it has another form";
  return value as unknown as ActionsFile;
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const EFFECTS: ReadonlySet<unknown> = new Set(["read", "write", "delete", "admin", "unknown"]);

function isAction(value: unknown): value is ActionRecord {
  return (
    isRecord(value) &&
    typeof value.name === "string" &&
    NAME.test(value.name) &&
    typeof value.toolName === "string" &&
    typeof value.integration === "string" &&
    typeof value.description === "string" &&
    typeof value.schemaHash === "string" &&
    typeof value.asksFirst === "boolean" &&
    EFFECTS.has(value.effect) &&
    isRecord(value.parameters)
  );
}

function isPending(value: unknown): value is PendingChanges {
  if (!isRecord(value) || typeof value.at !== "string") return false;
  return [value.added, value.changed, value.removed].every(isTexts);
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((text) => typeof text === "string");
}
