import { cutText, toPlainText } from "../wire/plain-text.ts";
import type { ApprovalFile, ApprovalRequest, Effect } from "./request.ts";

/** How much of the arguments a card shows. */
export interface CardOptions {
  /** Characters of argument JSON. Default 4,000; `Infinity` shows everything. */
  readonly maxArguments?: number;
  /** How the reader gets at what was cut, e.g. "Answer v to see everything." */
  readonly howToSeeAll?: string;
}

const EFFECT_TEXT: Readonly<Record<Effect, string>> = {
  read: "reads only",
  write: "writes: creates or changes something",
  delete: "DELETES something",
  admin: "ADMINISTERS the account",
  unknown: "unknown: the service does not say",
};

/**
 * The lines a human reads before deciding: app, account, action, final arguments, files, effect and reason.
 * Every text from the model or the service is neutralised; what is cut is said exactly.
 */
export function createApprovalCard(request: ApprovalRequest, options: CardOptions = {}): string[] {
  const lines = [
    `Approval needed: ${toPlainText(request.title)}`,
    `  Tool:      ${toPlainText(request.tool)}`,
    `  App:       ${toPlainText(request.integration)}`,
    ...(request.hasAccount === false ? [] : [`  Account:   ${describeAccount(request)}`]),
    `  Effect:    ${EFFECT_TEXT[request.effect]}`,
    `  Why asked: ${oneLine(request.reason)}`,
  ];
  if (request.description !== "") lines.push(`  It does:   ${oneLine(request.description)}`);
  for (const question of request.askBefore ?? []) lines.push(`  Check:     ${oneLine(question)}`);
  lines.push("  Arguments:", ...describeArguments(request.arguments, options));
  lines.push(request.files.length === 0 ? "  Files:     none" : "  Files:", ...request.files.map(describeFile));
  lines.push(`  Expires:   ${request.expiresAt}`);
  return lines;
}

function describeAccount(request: ApprovalRequest): string {
  const id = request.connection === undefined ? "default connection" : `connection ${toPlainText(request.connection)}`;
  return request.account === undefined ? id : `${toPlainText(request.account)} (${id})`;
}

function describeArguments(args: Record<string, unknown>, options: CardOptions): string[] {
  const text = toPlainText(JSON.stringify(args, null, 2), { keepLines: true, escapeSpaces: true });
  const max = options.maxArguments ?? 4_000;
  const shown = text.length <= max ? text : cutText(text, max);
  const lines = shown.split("\n").map((line) => `    ${line}`);
  if (shown.length < text.length) {
    const how = options.howToSeeAll === undefined ? "" : ` ${options.howToSeeAll}`;
    lines.push(`    [cut: ${text.length - shown.length} of ${text.length} characters are not shown.${how}]`);
  }
  return lines;
}

function describeFile(file: ApprovalFile): string {
  const parts = [toPlainText(file.name), toPlainText(file.mimetype), `${file.size} bytes`, `md5 ${file.md5}`];
  return `    ${toPlainText(file.field)}: ${parts.join(", ")}, from ${toPlainText(file.reference)}`;
}

function oneLine(text: string): string {
  return toPlainText(text.replaceAll(/\s+/g, " ").trim());
}
