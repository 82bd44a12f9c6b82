import { isRecord, parseJson } from "../../../shared/base/json.ts";
import { toPlainText } from "../../../shared/card/plain-text.ts";
import { createApprovalCard } from "../../calls/ask/card.ts";
import type { ApprovalDecision, ApprovalRequest, Approver } from "../../calls/ask/request.ts";
import { LineReader, type ReadLine, type Terminal } from "./line-reader.ts";
import { drawCard, NOT_COMPLETE } from "./show-card.ts";

interface TerminalApproverOptions extends Terminal {
  /** Bold headings. Default: only when the output is a terminal that shows colours (which honours `NO_COLOR`). */
  readonly color?: boolean | undefined;
  /** Reads the answers; shared with other prompts of the same keyboard. Default: a reader of its own. */
  readonly reader?: LineReader | undefined;
  /** Lets the human edit a text in a program of theirs. Default: the arguments are typed as JSON. */
  readonly editor?: Editor | undefined;
}

/**
 * Resolves to the text as it was saved, also when that is unchanged; undefined when the program ended with an error or could
 * not be started. Rejects with the signal's reason when that fires.
 */
export type Editor = (text: string, signal: AbortSignal) => Promise<string | undefined>;

/** An approver that can give the keyboard back. */
export type TerminalApprover = Approver & { close(): void };

const HELP = "Type a, e or d, then Enter.";
const HELP_WITHOUT_EDIT = "Type a or d, then Enter.";
const PAGE_HELP = "An answer counts at the question, after the last page.";
const MORE = "... (an empty line starts over) ";

/**
 * Asks in the terminal: a approves, e edits (the arguments as JSON, in an editor or typed; the edited card is shown and asked about again),
 * d declines, v shows everything page by page. Where a standing permission is possible, `always` gives it. The card is
 * drawn for the window: tool, effect and account always stand above the prompt. A yes to a call of which the window shows
 * a part counts once its last page was shown. End of input rejects, so that nothing is
 * approved; Ctrl-C aborts the call with an AbortError. One card at a time; text typed before a card is ignored.
 */
export function createTerminalApprover(options: TerminalApproverOptions): TerminalApprover {
  const reader = options.reader ?? new LineReader(options);
  const isColored = options.color ?? hasColors(options.output);
  let previous: Promise<unknown> = Promise.resolve();
  const approve: Approver = (request, { signal }) => {
    const { output, editor } = options;
    const turn = previous.then(() => new Conversation({ reader, output, isColored, editor }).hold(request, signal));
    previous = turn.catch(() => undefined);
    return turn;
  };
  return Object.assign(approve, { close: () => reader.close() });
}

class Conversation {
  readonly #reader: LineReader;
  readonly #output: Terminal["output"];
  readonly #isColored: boolean;
  readonly #editor: Editor | undefined;

  constructor(o: { reader: LineReader; output: Terminal["output"]; isColored: boolean; editor: Editor | undefined }) {
    this.#reader = o.reader;
    this.#output = o.output;
    this.#isColored = o.isColored;
    this.#editor = o.editor;
  }

  async hold(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalDecision> {
    const { id, fingerprint } = request;
    let shown = request;
    let isEdited = false;
    await this.#reader.discardTypedAhead();
    let { prompt, isSeen } = this.#showCard(shown, isEdited);
    for (;;) {
      const answer = await this.#ask(prompt, signal);
      if (!isSeen && (answer === "a" || answer === "always")) {
        this.#say(NOT_COMPLETE);
        continue;
      }
      switch (answer) {
        case "a":
          return isEdited
            ? { type: "edit", id, fingerprint, arguments: shown.arguments }
            : { type: "approve", id, fingerprint };
        case "always":
          if (mayStand(shown) && !isEdited) return { type: "approve", id, fingerprint, always: true };
          this.#say("A standing permission is not possible here.");
          break;
        case "d":
          return { type: "decline", id, fingerprint };
        case undefined:
          throw new Error("There was no answer at the terminal.");
        case "e": {
          if (shown.canEdit === false) {
            this.#say("This cannot be changed here: approve it as it is, or decline it.");
            break;
          }
          const edited = await this.#edit(shown, signal);
          if (edited !== undefined) {
            shown = { ...shown, arguments: edited };
            isEdited = true;
          }
          ({ prompt, isSeen } = this.#showCard(shown, isEdited));
          break;
        }
        case "v":
          if (await this.#showPages(shown, isEdited, signal)) isSeen = true;
          break;
        default:
          this.#say(shown.canEdit === false ? HELP_WITHOUT_EDIT : HELP);
      }
    }
  }

  /** The answer as one word; undefined at the end of input. */
  async #ask(prompt: string, signal: AbortSignal): Promise<string | undefined> {
    const line = await this.#read(prompt, signal);
    if (line.kind !== "line") return undefined;
    const word = line.text.trim().toLowerCase();
    const short: Readonly<Record<string, string>> = { approve: "a", edit: "e", decline: "d", view: "v" };
    return short[word] ?? word;
  }

  /** The arguments as the human wants them; undefined when they stay as they are. */
  async #edit({ arguments: shown }: ApprovalRequest, signal: AbortSignal) {
    if (this.#editor === undefined) return this.#readEdit(signal);
    const before = `${toPlainText(JSON.stringify(shown, null, 2), { keepLines: true })}\n`;
    let text = before;
    for (;;) {
      const saved = await this.#editor(text, signal);
      if (saved === undefined) {
        this.#say("The editor ended with an error, so nothing was changed. Unset VISUAL and EDITOR to type JSON here.");
        return undefined;
      }
      if (saved === before || saved.trim() === "") return undefined;
      text = saved;
      const value = parseJson(text);
      if (isRecord(value)) return value;
      this.#say(`That is not a JSON object${explainJson(text)}.`);
      const again = await this.#ask("Enter: edit it again, k: keep the arguments as they were? ", signal);
      if (again === undefined || again === "k") return undefined;
    }
  }

  /**
   * JSON over one or more lines; the first line that makes it whole ends it. An empty line after unfinished JSON starts
   * over; as the first line it gives undefined, like the end of input.
   */
  async #readEdit(signal: AbortSignal): Promise<Record<string, unknown> | undefined> {
    this.#say("Type the complete arguments as JSON. An empty line keeps what is shown.");
    let text = "";
    for (;;) {
      const line = await this.#read(text === "" ? "arguments> " : MORE, signal);
      if (line.kind !== "line") return undefined;
      const isEnd = line.text.trim() === "";
      if (isEnd && text === "") return undefined;
      text += `${line.text}\n`;
      const value = parseJson(text);
      if (isRecord(value)) return value;
      if (!isEnd) {
        const problem = isUnfinished(text) ? "" : explainJson(text);
        if (problem !== "") this.#say(`That cannot become a JSON object${problem}. An empty line starts over.`);
        continue;
      }
      this.#say("That is not a JSON object; try again.");
      text = "";
    }
  }

  async #read(prompt: string, signal: AbortSignal): Promise<ReadLine> {
    const line = await this.#reader.read(prompt, signal);
    if (line.kind === "interrupted") throw new DOMException("Stopped at the terminal.", "AbortError");
    return line;
  }

  /** Shows as much as fits above the question, and gives the prompt that belongs to it. `isSeen`: that is the whole call. */
  #showCard(request: ApprovalRequest, isEdited: boolean): { prompt: string; isSeen: boolean } {
    const prompt = describeChoices(request, isEdited);
    const { rows, question, isComplete } = drawCard(request, { output: this.#output, prompt, isEdited });
    const [title = "", ...lines] = rows;
    this.#say("");
    this.#say(this.#isColored ? `\u001b[1m${title}\u001b[22m` : title);
    for (const line of [...lines, ...question]) this.#say(line);
    return { prompt, isSeen: isComplete };
  }

  /** True once the last page was shown. */
  async #showPages(request: ApprovalRequest, isEdited: boolean, signal: AbortSignal): Promise<boolean> {
    const prompt = describeChoices(request, isEdited);
    const { pages, question } = drawCard(request, { output: this.#output, prompt, isEdited });
    let shown = 0;
    for (const page of pages) {
      for (const line of page) this.#say(line);
      shown += 1;
      if (
        shown === pages.length ||
        !(await this.#turnPage(`Page ${shown} of ${pages.length}. Enter: next, q: stop? `, signal))
      )
        break;
    }
    for (const line of question) this.#say(line);
    return shown === pages.length;
  }

  /** False when enough was seen. */
  async #turnPage(prompt: string, signal: AbortSignal): Promise<boolean> {
    for (;;) {
      const word = await this.#ask(prompt, signal);
      if (word === "" || word === "v" || word === "n") return true;
      if (word === undefined || word === "q") return false;
      this.#say(PAGE_HELP);
    }
  }

  #say(line: string): void {
    this.#output.write(`${line}\n`);
  }
}

/** What the parser says against a text, to stand in a sentence; empty for JSON that is no object. */
function explainJson(text: string): string {
  try {
    JSON.parse(text);
    return "";
  } catch (error) {
    const said = error instanceof Error ? error.message.split("\n")[0] : undefined;
    return said === undefined ? "" : ` (${toPlainText(said, { max: 120 })})`;
  }
}

/** True for the beginning of JSON. */
function isUnfinished(text: string): boolean {
  const problem = explainJson(text);
  const at = /at position (\d+)/.exec(problem)?.[1];
  return /end of JSON|Unterminated/.test(problem) || (at !== undefined && Number(at) >= text.trimEnd().length);
}

function describeChoices(request: ApprovalRequest, isEdited: boolean): string {
  const always = mayStand(request) && !isEdited ? ", always" : "";
  const edit = request.canEdit === false ? "" : "[e]dit, ";
  return `[a]pprove, ${edit}[d]ecline, [v]iew all${always}? `;
}

function mayStand(request: ApprovalRequest): boolean {
  return request.effect === "write" && request.connection !== undefined;
}

function hasColors(output: Terminal["output"]): boolean {
  return output.isTTY === true && "hasColors" in output && typeof output.hasColors === "function" && output.hasColors();
}

interface UnattendedApproverOptions {
  readonly output: Terminal["output"];
  /** Answers of the simulated human. Default: approves everything. */
  readonly answer?: ((request: ApprovalRequest) => "approve" | "decline") | undefined;
}

/** Plays the human, for scripts and CI, and says so on every line: the card as usual, then the answer. */
export function createUnattendedApprover(options: UnattendedApproverOptions): Approver {
  const say = (line: string) => options.output.write(`[unattended] ${line}\n`);
  return async (request) => {
    for (const line of createApprovalCard(request, { maxRows: Number.POSITIVE_INFINITY })) say(line);
    const { id, fingerprint } = request;
    const type = options.answer?.(request) ?? "approve";
    say(type === "approve" ? "Approved by the unattended run, no human was asked." : "Declined by the unattended run.");
    return type === "approve"
      ? { type, id, fingerprint }
      : { type, id, fingerprint, message: "The unattended run declined it." };
  };
}
