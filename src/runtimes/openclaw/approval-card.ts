import type { ApprovalFile, ApprovalRequest, Effect } from "../../approvals/request.ts";
import { redact } from "../../client/redact.ts";
import { findScope } from "./approval-scope.ts";
import { fitLines, shorten, showInCard, toCardText } from "./card-text.ts";
import type { HostApproval } from "./host-hook.ts";
import { mayStand } from "./tickets.ts";

/** What the host shows of a request; how long it waits and what follows is the asker's. */
export type HostCard = Pick<HostApproval, "title" | "description" | "severity" | "scope" | "allowedDecisions">;

/** The host takes 80 and 512 characters, counted after masking secrets, which may add some. */
const TITLE_MAX = 76;
const DESCRIPTION_MAX = 480;
const MOST_ARGUMENTS = 8;
const MOST_FILES = 3;

const SEVERITY: Readonly<Record<Effect, "info" | "warning" | "critical">> = {
  read: "info",
  write: "warning",
  unknown: "warning",
  delete: "critical",
  admin: "critical",
};

const EFFECT_TEXT: Readonly<Record<Effect, string>> = {
  read: "reads only",
  write: "writes",
  unknown: "effect unknown",
  delete: "DELETES",
  admin: "CHANGES THE ACCOUNT",
};

/**
 * The host's card of a request: what would be done, with which account, arguments and files, and why somebody is asked.
 * Whatever does not fit is counted, and `/svc show <code>` shows everything. "Always allow" is offered only where a
 * standing permission may exist.
 */
export function createHostCard(request: ApprovalRequest, code: string): HostCard {
  const who = toCardText(request.account ?? request.integration);
  const scope = findScope(request);
  return {
    title: shorten(`${toCardText(request.title)} (${shorten(who, 30)})`, TITLE_MAX),
    description: describe(request, code),
    severity: SEVERITY[request.effect],
    allowedDecisions: mayStand(request) ? ["allow-once", "allow-always", "deny"] : ["allow-once", "deny"],
    ...(scope === undefined ? {} : { scope }),
  };
}

function describe(request: ApprovalRequest, code: string): string {
  const standing = mayStand(request) ? ["Always: this tool with this account, until /svc rules revoke."] : [];
  const shown = [...describeArguments(request), ...describeFiles(request.files)];
  const masked = shown.some((line) => redact(line) !== line) ? [sayMasked(code)] : [];
  const lines = [
    describeTarget(request),
    ...shown.map(toCardText),
    toCardText(`Why: ${request.reason.replaceAll(/\s+/g, " ")}`),
    ...(request.askBefore ?? []).map((question) => toCardText(`Check: ${question.replaceAll(/\s+/g, " ")}`)),
  ];
  const measure = (parts: readonly string[]) => parts.reduce((sum, part) => sum + part.length + 1, 0);
  const whole = [...lines, ...standing, ...masked];
  if (measure(whole) <= DESCRIPTION_MAX) return whole.join("\n");
  const room = DESCRIPTION_MAX - measure(standing) - measure([sayCut(9_999_999, code)]);
  const fitted = fitLines(lines, room);
  return [...fitted.lines, ...standing, sayCut(fitted.hidden, code)].join("\n");
}

function sayCut(hidden: number, code: string): string {
  return `Cut: ${hidden} characters. All of it: /svc show ${code}`;
}

function sayMasked(code: string): string {
  return `What looks like a key is masked. All of it: /svc show ${code}`;
}

function describeTarget({ tool, integration, account, connection, hasAccount, effect }: ApprovalRequest): string {
  const id = connection === undefined ? "default account" : `account ${connection}`;
  const used = account === undefined ? id : `${account}, ${id}`;
  const where = hasAccount === false ? integration : `${integration} (${used})`;
  return toCardText(`${where}: ${tool}, ${EFFECT_TEXT[effect]}`);
}

/** What decides whom and what a call reaches comes first, so that padding cannot push it out. */
const FIRST =
  /^(to|cc|bcc|recipients?|channel|chat|user|email|amount|currency|path|folder|target|url|id|name|subject|title)/i;

function describeArguments({ arguments: args, files }: ApprovalRequest): string[] {
  const entries = Object.entries(args).filter(([name, value]) => !files.some((file) => isJustFile(file, name, value)));
  const sorted = [...entries.filter(([name]) => FIRST.test(name)), ...entries.filter(([name]) => !FIRST.test(name))];
  const isWhole = sorted.length <= MOST_ARGUMENTS;
  const shown = sorted.slice(0, isWhole ? MOST_ARGUMENTS : MOST_ARGUMENTS - 1);
  const rest = sorted.slice(shown.length).map(([name, value]) => `${showName(name)}: ${JSON.stringify(value)}`);
  const lines = shown.map(([name, value]) => `${showName(name)}: ${showValue(value)}`);
  return rest.length === 0 ? lines : [...lines, `+${rest.length} more: ${rest.join("; ")}`];
}

/** True when the line of the file says all there is in the argument. */
function isJustFile(file: ApprovalFile, name: string, value: unknown): boolean {
  if (file.field !== name) return false;
  if (value === file.reference) return true;
  if (typeof value !== "object" || value === null) return false;
  const said: Readonly<Record<string, string>> = {
    s3key: file.reference,
    name: file.name,
    mimetype: file.mimetype,
  };
  return Object.entries(value).every(([key, part]) => Object.hasOwn(said, key) && said[key] === part);
}

/** Words that begin lines of the card itself. */
const OWN_WORDS = /^(why|check|file|always|cut)$/i;

/** In quotes when it could be taken for something else. */
function showName(name: string): string {
  return /^[\w.-]+$/.test(name) && !OWN_WORDS.test(name) ? name : JSON.stringify(name);
}

/** Text without quotes where nothing else looks like it; JSON otherwise. */
function showValue(value: unknown): string {
  return typeof value === "string" && isPlain(value) ? value : JSON.stringify(value).replaceAll(/(?<= ) /g, "\\u0020");
}

function isPlain(text: string): boolean {
  if (text === "" || text.trim() !== text || text.includes("  ") || /^["[{]/.test(text)) return false;
  return !isJson(text) && showInCard(text) === text;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function describeFiles(files: readonly ApprovalFile[]): string[] {
  const isWhole = files.length <= MOST_FILES;
  const shown = files.slice(0, isWhole ? MOST_FILES : MOST_FILES - 1);
  const rest = files.slice(shown.length).map(describeFile);
  const lines = shown.map((file) => `File ${describeFile(file)}`);
  return rest.length === 0 ? lines : [...lines, `+${rest.length} more files: ${rest.join("; ")}`];
}

function describeFile({ field, name, mimetype, size, md5, reference }: ApprovalFile): string {
  const from = reference.endsWith(`/${name}`) ? reference.slice(0, -name.length) : reference;
  const where = /^[\w.[\]-]+$/.test(field) ? field : JSON.stringify(field);
  return `${where}: ${showPart(name)}, ${mimetype}, ${showSize(size)}, md5 ${md5}, from ${showPart(from)}`;
}

/** Commas part the facts about a file. */
function showPart(text: string): string {
  return isPlain(text) && !/[,;]/.test(text) ? text : JSON.stringify(text);
}

function showSize(bytes: number): string {
  return `${bytes.toLocaleString("en-GB")} bytes`;
}
