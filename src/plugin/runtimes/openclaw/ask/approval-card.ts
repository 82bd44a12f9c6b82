import { cutText } from "../../../../shared/base/text.ts";
import { type CardFact, fence, IN_FENCE } from "../../../../shared/card/card-layout.ts";
import { drawName, drawPart, drawProse, drawText } from "../../../../shared/card/card-text.ts";
import { drawFlowPreviews, listCallLabels } from "../../../../shared/card/flow-previews.ts";
import { drawPreview, PREVIEW_LABELS, splitTold } from "../../../../shared/card/preview-facts.ts";
import { drawFile, drawUntold, EFFECT_WORD } from "../../../calls/ask/card.ts";
import type { ApprovalRequest, Effect } from "../../../calls/ask/request.ts";
import { redact } from "../../../client/redact.ts";
import type { HostApproval } from "../host/host-tool.ts";
import { mayStand } from "./ask-state.ts";
import { looksHarmless, type ShowsWhole } from "./shown-text.ts";

/** The host's card of a request, without its wait and its effect. */
export type HostCard = Pick<HostApproval, "title" | "description" | "severity" | "allowedDecisions">;

/** The host takes 80 and 512 characters. */
const TITLE_MAX = 76;
/** What its Inbox shows of a title, above buttons and without anything else of the card, before it cuts. */
const TITLE_SHOWN = 42;
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
 * "Always allow" is offered only where a standing permission may exist. `isComplete` is false when a fact is cut, or
 * when the host would mask one, which is then left out here, so that no mask reaches the facts beside it: a yes counts
 * only after `/svc show` has shown all of it. `said` stands above all facts.
 */
export function createHostCard(
  request: ApprovalRequest,
  code: string,
  shows: ShowsWhole = looksHarmless,
  said?: string,
): { card: HostCard; isComplete: boolean } {
  const title = createTitle(request, shows);
  const { lines, isComplete } = describe(request, {
    code,
    shows,
    more: title.untold,
    first: said === undefined ? [] : [said],
  });
  const card: HostCard = {
    title: title.text,
    description: draw(lines),
    severity: SEVERITY[request.effect],
    allowedDecisions: mayStand(request) ? ["allow-once", "allow-always", "deny"] : ["allow-once", "deny"],
  };
  return { card, isComplete };
}

/** The host puts a word of its own before it; a fence begins a line. */
const draw = (lines: readonly string[]) => ["", ...fence(lines)].join("\n");

/**
 * A title that the host shows as it is, and the fact that it does not tell: the account has its place on the card. Where
 * all fits, whom or what the call is about stands in it, too; the card tells it nevertheless.
 */
function createTitle(request: ApprovalRequest, shows: ShowsWhole): { text: string; untold: readonly string[] } {
  const who = shorten(toCardText(request.account ?? request.integration), 30);
  const action = toCardText(request.title);
  const whole = `${action} (${who})`;
  const about = nameObject(request);
  const telling = about === undefined ? [] : [`${whole}: ${about}`, `${action}: ${about}`];
  const told = telling.find((text) => text.length <= TITLE_SHOWN && shows(text));
  if (told !== undefined) return { text: told, untold: [] };
  if (whole.length <= TITLE_MAX && shows(whole)) return { text: whole, untold: [] };
  const text = [shorten(whole, TITLE_MAX), shorten(toCardText(request.tool), TITLE_MAX)].find(shows);
  return {
    text: text ?? "A call waits for you",
    untold: [`Action: ${drawText(request.title, findForgeries(request))}`],
  };
}

/** Names of arguments that tell whom or what a call is about, the most telling first. */
const OBJECTS = [
  /^(?:to|cc|bcc|recipients?|attendees?|invitees?)$/i,
  /^(?:path|.*[a-z_]path)$/i,
  /^(?:folder|file_?name|name|title|subject|url)$/i,
  /^(?:id|.*_id|.*Id)$/,
];

/** The first of them, as code, which no chat makes a link of, and the number of further ones; undefined when it holds a key. */
function nameObject({ arguments: args, files }: ApprovalRequest): string | undefined {
  const found = OBJECTS.map((names) => Object.keys(args).filter((name) => names.test(name)));
  const values = (found.find(({ length }) => length > 0) ?? []).flatMap((name) => args[name]);
  const [first, ...more] = values.length > 0 ? values : files.map(({ name }) => name);
  if (typeof first !== "string" || first.trim() === "" || redact(first) !== first) return undefined;
  return `\`${drawText(first, IN_CODE)}\`${more.length > 0 ? `, +${more.length}` : ""}`;
}

interface CardParts {
  readonly code: string;
  readonly shows: ShowsWhole;
  /** Facts that stand nowhere else. */
  readonly more: readonly string[];
  /** What the human is told before any fact. */
  readonly first: readonly string[];
}

function describe(request: ApprovalRequest, parts: CardParts) {
  const inCard = findForgeries(request);
  const previews = drawFlowPreviews(request.previews ?? [], inCard);
  const looked = [...drawPreview(request, inCard), ...previews].flatMap(sayFact);
  const { untold, told } = splitTold(request.arguments, request.preview);
  const args = drawUntold({ ...request, arguments: untold }, inCard).map(({ line }) => line);
  const raw = drawUntold({ ...request, arguments: told }, inCard).map(({ line }) => line);
  const files = request.files.map((file) => `File${file.field === "file" ? ":" : ""} ${drawFile(file, inCard)}`);
  const facts = [...parts.first, describeTarget(request), ...looked, ...args, ...files, ...parts.more];
  if (facts.every((line) => redact(line) === line)) {
    const whole = addBoilerplate(
      facts,
      [...raw.filter((line) => redact(line) === line), ...describeBoilerplate(request)],
      parts.code,
    ).find((lines) => measure(lines) <= ROOM && parts.shows(draw(lines)));
    if (whole !== undefined) return { lines: whole, isComplete: true };
  }
  const few = [
    ...countRest(looked, MOST_ARGUMENTS, "more lines"),
    ...countRest(args, MOST_ARGUMENTS, "more"),
    ...countRest(files, MOST_FILES, "more files"),
  ];
  // Tool and effect keep their line, however much there is, and the account with them where the host shows its name.
  const named = describeTarget(request, { max: LONGEST_NAME });
  const target = parts.shows(draw([named])) ? named : describeTarget(request, { max: LONGEST_NAME, isNameless: true });
  const kept = [target, ...few, ...parts.more];
  return { lines: describePart(kept, measure(facts), { ...parts, isNameless: target !== named }), isComplete: false };
}

/** One line for each value, the first behind its label. */
function sayFact({ label, values }: CardFact): string[] {
  return values.map(({ line }, index) => (index === 0 ? `${label}: ${line}` : line));
}

/** What fits of the lines without what looks like a key, and why it is not all; `total` characters are all facts. */
function describePart(
  lines: readonly string[],
  total: number,
  { code, shows, first, isNameless }: CardParts & { readonly isNameless: boolean },
): string[] {
  const say = (why: string) => sayIncomplete(why, code);
  const clean = lines.map((line) => redact(line));
  const [target = "", ...rest] = clean;
  const left = ROOM - measure([...first, target, say("9,999,999 characters are missing")]);
  const fitted = [...first, target, ...fitLines(rest, left)];
  const masked = say("OpenClaw would mask a part");
  const shown = hideMasked(fitted, (some) => shows(draw([...some, masked])));
  const isMasked = isNameless || clean.some((line, index) => line !== lines[index]) || shown.join() !== fitted.join();
  if (isMasked) return [...shown, masked];
  return [...shown, say(`${(total - measure(shown)).toLocaleString("en-GB")} characters are missing`)];
}

/**
 * The lines, with "…" in place of values that the host would mask, alone or together with lines before them. `shows`
 * tells whether it would show some lines as they are.
 */
function hideMasked(lines: readonly string[], shows: (lines: readonly string[]) => boolean): readonly string[] {
  const kept: string[] = [];
  for (const line of lines) {
    kept.push(line);
    for (const hide of [hideValue, () => "…"]) {
      for (let at = kept.length - 1; at >= 0 && !shows(kept); at -= 1) kept[at] = hide(kept[at] ?? "");
    }
  }
  return kept;
}

function hideValue(line: string): string {
  return `${/^.*?: /.exec(line)?.[0] ?? ""}…`;
}

/** The facts with as many lines of boilerplate as there are, then with fewer, then alone. */
function addBoilerplate(facts: readonly string[], boilerplate: readonly string[], code: string): string[][] {
  const fewer = boilerplate.map((_, index) => boilerplate.slice(0, boilerplate.length - index - 1));
  const more = `More: /svc show ${code}`;
  return [[...facts, ...boilerplate], ...fewer.map((lines) => [...facts, ...lines, more]), [...facts]];
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

/** For the lines between the fences. */
const ROOM = DESCRIPTION_MAX - measure(["", ...fence([])]);

function sayIncomplete(why: string, code: string): string {
  return `NOT COMPLETE: ${why}. Read /svc show ${code} first: an Allow before that does not count.`;
}

/** App, account, tool and effect; names of at most `max` characters, and none of the account if it is `isNameless`. */
function describeTarget(
  request: ApprovalRequest,
  { max = Number.POSITIVE_INFINITY, isNameless = false }: { max?: number; isNameless?: boolean } = {},
): string {
  const { tool, integration, account, connection, hasAccount, effect } = request;
  const inCard = findForgeries(request);
  const name = (text: string) => shorten(drawPart(text, inCard), max);
  const used = hasAccount === false ? "" : ` (${isNameless ? "…" : name(account ?? connection ?? "default account")})`;
  return `${name(integration)}${used}: ${name(tool)}, ${EFFECT_WORD[effect]}`;
}

/** The first lines, and the number of further lines. */
function countRest(lines: readonly string[], most: number, what: string): string[] {
  return lines.length <= most ? [...lines] : [...lines.slice(0, most - 1), `+${lines.length - most + 1} ${what}`];
}

/** What Slack makes links and signs of, in a fence, too: tags, and a sign written as an entity. */
const TAGS = /[<>]|&(?=#?\w+;)/;

/** Backticks of a fence, {@link TAGS}, and characters the host escapes itself, which may make a card too long for it. */
const IN_HOST = new RegExp(`${IN_FENCE.source}|${TAGS.source}|[\\u200c\\u200d\\u115f\\u1160\\u3164\\uffa0]`, "gu");

/** {@link IN_HOST}, and what ends code in a line. */
const IN_CODE = new RegExp(`${IN_HOST.source}|\``, "gu");

/** What begins a fact of a card, beside the names of its arguments. */
const OWN_LABELS = ["Action", "Always", "Check", "File", "More", "NOT COMPLETE", "Why", ...PREVIEW_LABELS];

/**
 * {@link IN_HOST}, and the colon behind a word that begins a fact of this card: the host's terminal shows a card in one line,
 * and a narrow page wraps a value to where facts begin. A key inside of a value has no space behind its colon.
 */
function findForgeries({ arguments: args, previews = [] }: Pick<ApprovalRequest, "arguments" | "previews">): RegExp {
  const labels = [
    ...OWN_LABELS,
    ...listCallLabels(previews),
    ...Object.keys(args).map((name) => drawName(name, IN_HOST)),
  ];
  const spelled = labels.map((label) => {
    const exact = label.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
    return label.startsWith('"') ? `${exact}(?=:(?:\\s|$))` : exact;
  });
  return new RegExp(`${IN_HOST.source}|(?<=(?:^|[^\\w]|\\\\[nrt])(?:${spelled.join("|")})\\s*):`, "giu");
}

/** Characters that some chats use to hide, format or link text; `_` only at the edge of a word. */
const MARKDOWN =
  /[*~|`<>[\]]|&(?=#?\w+;)|\\(?![A-Za-z0-9])|:(?=\/\/)|(?<=\/\/\S*|\bwww)\.|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/gu;

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
