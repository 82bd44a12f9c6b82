import type { SessionEvent } from "./session-events.ts";

/** Who is told of a session's events. An async function fits the type as well. */
type EventListener = (event: SessionEvent) => void;

/**
 * Makes what tells `listener` of an event at once, and goes on whatever it does: what it throws or rejects with is
 * dropped, since a call that has acted must not lose its outcome over a line of a log.
 */
export function createEmitter(listener: EventListener): EventListener {
  // Async, so that what is thrown and what is rejected later end in the same place.
  const tell = async (event: SessionEvent): Promise<void> => await listener(event);
  return (event) => void tell(event).catch(() => undefined);
}
