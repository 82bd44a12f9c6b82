import { cutText } from "../../../base/text.ts";
import { drawFile, drawUntold, EFFECT_WORD } from "../../../calls/ask/card.ts";
import type { ApprovalRequest, Effect } from "../../../calls/ask/request.ts";
import { redact } from "../../../client/redact.ts";
import { fence, IN_FENCE } from "../../../wire/card-layout.ts";
import { drawPart, drawProse, drawText } from "../../../wire/card-text.ts";
import type { HostApproval } from "../host/host-tool.ts";
import { mayStand } from "./ask-state.ts";

/** The host's card of a request, without its wait and its effect. */
export type HostCard = Pick<HostApproval, "title" | "description" | "severity" | "allowedDecisions">;

/** The host takes 80 and 512 characters, counted after masking secrets, which may add some. */
const TITLE_MAX = 76;
const DESCRIPTION_MAX = 480;
const MOST_ARGUMENTS = 8;
const MOST_FILES = 3;
/** Of a name on a card that does not show everything. Names of tools are at most as long. */
const LONGEST_NAME = 64;

const SEVERITY: Readonly<Record<Effect, "info" | "warning" | "critical">> = {
  read: "info",
  write: "warning",
  unknown: "warning",
  delete: "critical",
  admin: "critical",
};

/**
 * The host's card of a request: what would be done, with which account, arguments and files, and why somebody is asked.
 * Words that say nothing about this call are dropped first. The description is fenced: many chats render Markdown.
 * "Always allow" is offered only where a standing permission may exist. `isComplete` is false when a fact is cut or
 * masked: a yes counts only after `/svc show` has shown all of it.
 */
export function createHostCard(request: ApprovalRequest, code: string): { card: HostCard; isComplete: boolean } {
  const who = toCardText(request.account ?? request.integration);
  const { lines, isComplete } = describe(request, code);
  const card: HostCard = {
    title: shorten(`${toCardText(request.title)} (${shorten(who, 30)})`, TITLE_MAX),
    // The host puts a word of its own before it; a fence begins a line.
    description: ["", ...fence(lines)].join("\n"),
    severity: SEVERITY[request.effect],
    allowedDecisions: mayStand(request) ? ["allow-once", "allow-always", "deny"] : ["allow-once", "deny"],
  };
  return { card, isComplete };
}

function describe(request: ApprovalRequest, code: string) {
  const args = drawUntold(request, IN_HOST).map(({ line }) => line);
  const files = request.files.map((file) => `File${file.field === "file" ? ":" : ""} ${drawFile(file, IN_HOST)}`);
  const facts = [describeTarget(request), ...args, ...files];
  const masked = facts.map((line) => redact(line));
  const hasMasked = masked.some((line, index) => line !== facts[index]);
  const fixed = hasMasked ? [sayIncomplete("what looks like a key is masked", code)] : [];
  const boilerplate = describeBoilerplate(request);
  const room = DESCRIPTION_MAX - measure(["", ...fence([])]);
  const more = [`More: /svc show ${code}`];
  for (let kept = boilerplate.length; kept >= 0; kept -= 1) {
    const rest = kept === boilerplate.length || hasMasked ? fixed : more;
    const lines = [...masked, ...boilerplate.slice(0, kept), ...rest];
    if (measure(lines) <= room) return { lines, isComplete: !hasMasked };
  }
  // Tool, effect and account keep their line, however much there is.
  const target = redact(describeTarget(request, LONGEST_NAME));
  const left = room - measure([target, sayIncomplete("9,999,999 characters are missing", code)]);
  const few = [...countRest(args, MOST_ARGUMENTS, "more"), ...countRest(files, MOST_FILES, "more files")];
  const fitted = fitLines(
    few.map((line) => redact(line)),
    left,
  );
  const missing = measure(facts) - measure([target, ...fitted]);
  const said = sayIncomplete(`${missing.toLocaleString("en-GB")} characters are missing`, code);
  return { lines: [target, ...fitted, said], isComplete: false };
}

/** The last goes first. */
function describeBoilerplate(request: ApprovalRequest): string[] {
  const say = (label: string, text: string) => redact(`${label}: ${drawProse(text, IN_HOST)}`);
  return [
    say("Why", request.reason),
    ...(request.askBefore ?? []).map((question) => say("Check", question)),
    ...(mayStand(request) ? ["Always: this tool with this account, until /svc rules revoke."] : []),
  ];
}

const measure = (lines: readonly string[]) => lines.reduce((sum, line) => sum + line.length + 1, 0);

function sayIncomplete(why: string, code: string): string {
  return `NOT COMPLETE: ${why}. Read /svc show ${code} first: an Allow before that does not count.`;
}

/** App, account, tool and effect; names of at most `max` characters. */
function describeTarget(request: ApprovalRequest, max = Number.POSITIVE_INFINITY): string {
  const { tool, integration, account, connection, hasAccount, effect } = request;
  const name = (text: string) => shorten(drawPart(text, IN_HOST), max);
  const used = hasAccount === false ? "" : ` (${name(account ?? connection ?? "default account")})`;
  return `${name(integration)}${used}: ${name(tool)}, ${EFFECT_WORD[effect]}`;
}

/** The first lines, and the number of further lines. */
function countRest(lines: readonly string[], most: number, what: string): string[] {
  return lines.length <= most ? [...lines] : [...lines.slice(0, most - 1), `+${lines.length - most + 1} ${what}`];
}

/** Backticks of a fence, and characters the host escapes itself, which may make a card too long for it. */
const IN_HOST = new RegExp(`${IN_FENCE.source}|[\\u200c\\u200d\\u115f\\u1160\\u3164\\uffa0]`, "gu");

/** Characters that some chats use to hide, format or link text; `_` only at the edge of a word. */
const MARKDOWN = /[*~|`<>[\]]|\\(?![A-Za-z0-9])|:(?=\/\/)|(?<=\/\/\S*|\bwww)\.|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/gu;

/** Text for a line that a chat renders as Markdown. Keys and tokens are taken out. */
export function toCardText(text: string): string {
  const marked = redact(text).replaceAll(MARKDOWN, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
  return drawText(marked, IN_HOST);
}

/** Cuts the longest lines until all fit into `budget` characters, line ends counted: short lines stay whole. */
export function fitLines(lines: readonly string[], budget: number): string[] {
  let left = budget - lines.length;
  let widest = 0;
  const byLength = lines.map(({ length }) => length).sort((a, b) => a - b);
  for (const [index, length] of byLength.entries()) {
    widest = Math.floor(left / (byLength.length - index));
    if (length > widest) break;
    left -= length;
    widest = length;
  }
  return lines.map((line) => shorten(line, widest));
}

/** The text, or its beginning and "…" in at most `max` characters; no `\uXXXX` is cut in two. */
export function shorten(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${cutText(text, Math.max(0, max - 1)).replace(/\\(?:u[0-9a-f]{0,3})?$/, "")}…`;
}
