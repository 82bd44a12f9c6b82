import { expect } from "vitest";
import { canonicalJson } from "../../../src/plugin/calls/ask/fingerprint.ts";
import { type ApprovalRequest, createApprovalRequest } from "../../../src/plugin/calls/ask/request.ts";
import { MAIL_SUBJECT } from "../../hostile/card-subject.ts";
import { readArguments, readFacts } from "../../hostile/read-card.ts";
import type { CardText } from "../texts/card-texts.ts";

type Arguments = Record<string, unknown>;

/** A card as somebody sees it. */
export interface ShownCard {
  /** All text that is visible, row by row. */
  readonly rows: readonly string[];
  /** The arguments as somebody reads them off the card; only asked for when the card does not say NOT COMPLETE. */
  read(): Arguments;
  /** Does what the card says to see the rest, and reads everything; only asked for when it says NOT COMPLETE. */
  readRest(): Arguments | Promise<Arguments>;
}

/** A place that shows cards. */
export interface CardPlace {
  readonly name: string;
  /** Undefined for a call that is refused before anybody is asked, such as one with a placeholder for a value. */
  show(request: ApprovalRequest): ShownCard | undefined | Promise<ShownCard | undefined>;
}

/** What a card says that leaves something out, and what to do to see it. */
const NOT_COMPLETE = /^NOT COMPLETE: .{20,}/m;

/** A request of a harmless mail tool with these arguments. */
function createRequest(args: Arguments): ApprovalRequest {
  return createApprovalRequest({ ...MAIL_SUBJECT, arguments: args }, { now: 0, ttlMs: 1 });
}

/** The arguments off the rows of a card of ours. */
export function readRows(rows: readonly string[]): Arguments {
  return readArguments(readFacts(rows).get("Arguments") ?? expect.fail("There are no arguments."));
}

/** What {@link findUnseen} gives for a call that is refused first. */
export const NOBODY_ASKED = "Nobody is asked.";

/** One argument that the place shows otherwise than it is sent; undefined when all are seen. */
export async function findUnseen(place: CardPlace, { kind }: CardText, args: Arguments): Promise<string | undefined> {
  const shown = await place.show(createRequest(args));
  if (shown === undefined) return NOBODY_ASKED;
  const isCut = NOT_COMPLETE.test(shown.rows.join("\n"));
  const seen = await readOrSay(() => (isCut ? shown.readRest() : shown.read()));
  if (typeof seen !== "string" && canonicalJson(seen) === canonicalJson(args)) return undefined;
  const what = typeof seen === "string" ? seen : JSON.stringify(seen);
  return `${kind}${isCut ? ", said to be not complete" : ""}: ${shorten(JSON.stringify(args))} is seen as ${shorten(what)}`;
}

async function readOrSay(read: () => Arguments | Promise<Arguments>): Promise<Arguments | string> {
  try {
    return await read();
  } catch (error) {
    return String(error);
  }
}

const shorten = (text: string) => (text.length <= 160 ? text : `${text.slice(0, 110)}…${text.slice(-40)}`);
