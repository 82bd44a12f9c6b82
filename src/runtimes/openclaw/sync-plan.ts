import type { ActionRecord, ActionsFile } from "./actions-file.ts";

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

/** How far planning is. */
interface SyncProgress {
  readonly step: "listing" | "describing";
  readonly done: number;
  /** Known once the lists are complete. */
  readonly total: number | undefined;
}

/** Settings of `planSync`. */
export interface PlanOptions {
  /** Only these apps, by slug; default all. */
  readonly integrations?: readonly string[] | undefined;
  /** Most action tools; default 1,000. Those already there come first. */
  readonly limit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: SyncProgress) => void) | undefined;
  /** Milliseconds since the epoch; for tests. */
  readonly now?: (() => number) | undefined;
}
