import type { SessionEvent } from "../../tools/session-events.ts";
import type { HostToolResult } from "./host-tool.ts";

/** A step shorter than this is not worth a line; an approval that was given beforehand takes none of it. */
const SHOWN_AFTER_MS = 1_000;

/** Tells the host how one call goes on. */
export interface ProgressReporter {
  readonly listen: (event: SessionEvent) => void;
  /** Nothing is shown any more. */
  stop(): void;
}

/** Runs `work` after `ms` milliseconds unless the returned function is called before. */
export type Delay = (ms: number, work: () => void) => () => void;

/**
 * Shows a line for each step of the call `callId` that takes a while. The words are fixed, because everybody in the
 * conversation may see them: no argument, no file name, no text of the service.
 */
export function reportProgress(
  callId: string,
  onUpdate: (partial: HostToolResult) => void,
  delay: Delay = delayWork,
): ProgressReporter {
  let shown: string | undefined;
  let stopWaiting: (() => void) | undefined;
  const show = (text: string) => {
    shown = text;
    try {
      onUpdate({ content: [], details: {}, progress: { text, visibility: "channel", privacy: "public" } });
    } catch {
      // A line that cannot be shown must not cost the call.
    }
  };
  return {
    listen(event) {
      if (!("callId" in event) || event.callId !== callId) return;
      stopWaiting?.();
      const text = describeStep(event.type);
      if (text !== undefined && text !== shown) stopWaiting = delay(SHOWN_AFTER_MS, () => show(text));
    },
    stop: () => stopWaiting?.(),
  };
}

function delayWork(ms: number, work: () => void): () => void {
  const timer = setTimeout(work, ms);
  timer.unref();
  return () => clearTimeout(timer);
}

function describeStep(type: SessionEvent["type"]): string | undefined {
  switch (type) {
    case "approval_requested":
      return "Waiting for an approval…";
    case "uploading":
      return "Uploading a file…";
    case "sending":
      return "Waiting for the app…";
    case "flow_progress":
      return "A flow is running…";
    default:
      return undefined;
  }
}
