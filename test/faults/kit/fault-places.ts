import type { MessageSpan } from "./http-message.ts";

/** Where in an exchange of one request and one answer something goes wrong. */
export const FAULT_PLACES = [
  "request line",
  "request headers",
  "request body start",
  "request body middle",
  "request body end",
  "before the answer",
  "status line",
  "answer headers",
  "answer body start",
  "answer body middle",
  "answer body end",
  "after the answer",
] as const;
export type FaultPlace = (typeof FAULT_PLACES)[number];

/**
 * reset: both sides get a TCP reset · close: both sides get an orderly end, so that what came before is cut short ·
 * drop: nothing passes any more, and nobody is told · delay: what follows comes late · duplicate: what came before in
 * this message comes twice.
 */
export const FAULT_KINDS = ["reset", "close", "drop", "delay", "duplicate"] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** True for a place on the way to the service. */
export function isRequestPlace(place: FaultPlace): boolean {
  return FAULT_PLACES.indexOf(place) <= FAULT_PLACES.indexOf("before the answer");
}

/** How many bytes of its message pass before the fault. */
export function findCut(place: FaultPlace, message: MessageSpan): number {
  const { lineEnd, headEnd, end } = message;
  switch (place) {
    case "request line":
    case "status line":
      return Math.floor(lineEnd / 2);
    case "request headers":
    case "answer headers":
      return Math.floor((lineEnd + headEnd) / 2);
    case "request body start":
    case "answer body start":
      return headEnd;
    case "request body middle":
    case "answer body middle":
      return Math.floor((headEnd + end) / 2);
    case "request body end":
    case "answer body end":
      return end - 1;
    case "before the answer":
    case "after the answer":
      return end;
  }
}
