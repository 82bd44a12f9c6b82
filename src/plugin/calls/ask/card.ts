import { type CardFact, fence, IN_FENCE, layOutFacts } from "../../../shared/card/card-layout.ts";
import {
  type DrawnValue,
  drawArguments,
  drawName,
  drawPart,
  drawProse,
  drawText,
} from "../../../shared/card/card-text.ts";
import { drawFlowPreviews } from "../../../shared/card/flow-previews.ts";
import { drawPreview, splitTold } from "../../../shared/card/preview-facts.ts";
import type { ApprovalFile, ApprovalRequest, Effect } from "./request.ts";

/** Size and markup of a card that {@link createApprovalCard} draws. */
export interface CardOptions {
  /** Width in cells of the place that shows the card; longer rows are wrapped. Default 80. */
  readonly columns?: number;
  /** Rows for the values. Default 100; `Infinity` shows everything. */
  readonly maxRows?: number;
  /** Tells the reader how to see what is cut or left out, e.g. "Answer v to see everything." */
  readonly howToSeeAll?: string;
  /** True where Markdown or HTML is rendered: puts the card in a fence that its content cannot close. Default false. */
  readonly isMarkdown?: boolean;
}

/** The facts of a request that a human must see, ready to be drawn anywhere. */
export interface ApprovalCard {
  readonly facts: readonly CardFact[];
  /** Tool, effect and account again, for display beside the question. */
  readonly question: CardFact;
}

const EFFECT_TEXT: Readonly<Record<Effect, string>> = {
  read: "reads only",
  write: "writes: can create or change something",
  delete: "DELETES something",
  admin: "ADMINISTERS the account",
  unknown: "unknown: the service does not say",
};

/** An effect in a word or two, for a place beside a question. */
export const EFFECT_WORD: Readonly<Record<Effect, string>> = {
  read: "reads only",
  write: "writes",
  delete: "DELETES",
  admin: "ADMINISTERS THE ACCOUNT",
  unknown: "effect unknown",
};

const COLUMNS = 80;
const ROWS = 100;
/** Begins what a card says that does not show all of its call. */
const NOT_COMPLETE = "NOT COMPLETE: not all of this call is on this card.";
const SHOW_ALL = "Decline, or have all of it shown first.";

/**
 * The lines a human reads before deciding: app, account, action, final arguments, files, effect and reason, then the
 * tool with its effect and account again. Text from the model or the service can never stand in the place of a label.
 * Cuts are stated exactly, and a card that does not show the whole call says NOT COMPLETE.
 */
export function createApprovalCard(request: ApprovalRequest, options: CardOptions = {}): string[] {
  const { columns = COLUMNS, maxRows = ROWS } = options;
  const { facts, question } = describeRequest(request, options.isMarkdown === true ? IN_FENCE : undefined);
  const drawn = layOutFacts(facts, { columns, rows: maxRows });
  const howToSeeAll = options.howToSeeAll ?? (drawn.isComplete ? undefined : SHOW_ALL);
  const said = [...(drawn.isComplete ? [] : [NOT_COMPLETE]), ...(drawn.isWhole ? [] : [howToSeeAll ?? []].flat())];
  const asked = layOutFacts([question], { columns, rows: Number.POSITIVE_INFINITY });
  const lines = ["Approval needed", ...drawn.rows, ...said, ...asked.rows];
  return options.isMarkdown === true ? fence(lines) : lines;
}

/** Facts of the call first, then those of its tool. Escapes characters that match `also`. */
export function describeRequest(request: ApprovalRequest, also?: RegExp): ApprovalCard {
  const { account, connection } = request;
  const text = (value: string) => drawText(value, also);
  const part = (value: string) => drawPart(value, also);
  const fact = (label: string, ...lines: string[]): CardFact => ({ label, values: lines.map((line) => ({ line })) });
  const prose = (label: string, ...lines: string[]): CardFact => ({
    ...fact(label, ...lines.filter((line) => line !== "").map((line) => drawProse(line, also))),
    isBoilerplate: true,
  });
  const id = connection === undefined ? "default connection" : `connection ${text(connection)}`;
  const used = account === undefined ? id : `${part(account)} (${id})`;
  const who = account === undefined ? (request.hasAccount === false ? part(request.integration) : id) : part(account);
  const names = [
    fact("Action", text(request.title)),
    fact("Tool", text(request.tool)),
    fact("App", text(request.integration)),
  ];
  const effect = `${EFFECT_TEXT[request.effect]}${request.does === undefined ? "" : `: it ${text(request.does)}`}`;
  const isTold = request.preview !== undefined;
  return {
    facts: [
      ...drawPreview(request, also),
      ...drawFlowPreviews(request.previews ?? [], also),
      // The sentence of a preview says it, and the question names the tool.
      ...(isTold ? [] : names),
      ...(request.hasAccount === false ? [] : [fact("Account", used)]),
      fact("Effect", effect),
      ...drawCall(request, also),
      ...(request.files.length === 0 && isTold ? [] : [drawFiles(request, also)]),
      ...(isTold ? [...drawTold(request, also), ...names.map((one) => ({ ...one, isBoilerplate: true }))] : []),
      prose("Why asked", request.reason),
      prose("Check", ...(request.askBefore ?? [])),
      prose("It does", request.description),
      prose("Expires", request.expiresAt),
    ],
    question: fact("Approve?", `${part(request.tool)}, ${EFFECT_WORD[request.effect]}, ${who}`),
  };
}

function drawFiles({ files }: ApprovalRequest, also?: RegExp): CardFact {
  const lines = files.length === 0 ? ["none"] : files.map((file) => drawFile(file, also));
  return { label: "Files", values: lines.map((line) => ({ line })) };
}

/** The arguments that the preview does not tell. */
function drawCall(request: ApprovalRequest, also?: RegExp): CardFact[] {
  if (Object.keys(request.arguments).length === 0) return [{ label: "Arguments", values: [{ line: "none" }] }];
  const { untold } = splitTold(request.arguments, request.preview);
  const values = drawUntold({ ...request, arguments: untold }, also);
  return request.preview !== undefined && values.length === 0 ? [] : [{ label: "Arguments", values }];
}

/** The others: a short card leaves them out. */
function drawTold(request: ApprovalRequest, also?: RegExp): CardFact[] {
  const { told } = splitTold(request.arguments, request.preview);
  const values = drawUntold({ ...request, arguments: told }, also);
  return values.length === 0 ? [] : [{ label: "As sent", values, isBoilerplate: true }];
}

/** One line for each argument that no file line shows. Escapes characters that match `also`. */
export function drawUntold({ arguments: args, files }: ApprovalRequest, also?: RegExp): DrawnValue[] {
  return drawArguments(
    Object.entries(args).filter(([name, value]) => !isTold(name, value, files)),
    also,
  );
}

function isTold(field: string, value: unknown, files: readonly ApprovalFile[]): boolean {
  if (Array.isArray(value) && value.length > 0)
    return value.every((item, index) => isTold(`${field}[${index}]`, item, files));
  const file = files.find((one) => one.field === field);
  if (file === undefined) return false;
  if (value === file.reference) return true;
  if (typeof value !== "object" || value === null) return false;
  const said: Readonly<Record<string, string>> = { s3key: file.reference, name: file.name, mimetype: file.mimetype };
  return Object.entries(value).every(([key, part]) => Object.hasOwn(said, key) && said[key] === part);
}

/** A file in one row: its field (unless `file`), name, type, bytes, MD5 and origin. `also`: characters to escape. */
export function drawFile({ field, name, mimetype, size, md5, reference }: ApprovalFile, also?: RegExp): string {
  const from = reference.endsWith(`/${name}`) ? reference.slice(0, -name.length) : reference;
  const where = field === "file" ? "" : `${drawName(field, also)}: `;
  const what = [name, mimetype].map((text) => drawPart(text, also)).join(", ");
  const bytes = `${size.toLocaleString("en-GB")} bytes, md5 ${drawText(md5, also)}`;
  return `${where}${what}, ${bytes}, from ${drawPart(from, also)}`;
}
