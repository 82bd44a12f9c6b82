import type { FlowTool } from "../../flows/flow-tool.ts";
import type { ToolSession } from "../../tools/session.ts";
import type { SessionEvent } from "../../tools/session-events.ts";
import type { StaticTool } from "../../tools/static-tools.ts";
import type { KeyWatch } from "./key-watch.ts";

/** One account's way to its tools. Hold it for one call only: it is closed when settings or key change. */
export interface Desk {
  readonly session: ToolSession;
  /** Static tools and flow tools, by name. */
  readonly tools: ReadonlyMap<string, StaticTool | FlowTool>;
  /** Whether the service still takes the key, as far as calls have shown it. */
  readonly key: Pick<KeyWatch, "isRefused">;
  /**
   * Tells `listener` of everything that happens, of all calls; returns how to stop. For progress, never for decisions:
   * one that fails changes nothing, for the call and for other listeners.
   */
  onEvent(listener: (event: SessionEvent) => void): () => void;
}

/** A desk that can be closed. */
export interface OwnedDesk extends Desk {
  /** Closes the session as soon as no call runs in it any more; a call that runs is never cut off. */
  retire(): Promise<void>;
}
