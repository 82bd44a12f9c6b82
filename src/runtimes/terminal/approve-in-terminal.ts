import { createApprovalCard } from "../../approvals/card.ts";
import type { ApprovalDecision, ApprovalRequest, Approver } from "../../approvals/request.ts";
import { LineReader, type ReadLine, type Terminal } from "./line-reader.ts";
import { toLocalTime } from "./to-local-time.ts";

/** Settings of {@link createTerminalApprover}. */
export interface TerminalApproverOptions extends Terminal {
  /** Bold headings. Default: only when the output is a terminal that shows colours (which honours `NO_COLOR`). */
  readonly color?: boolean | undefined;
  /** Reads the answers; shared with whoever else asks at the same keyboard. Default: a reader of its own. */
  readonly reader?: LineReader | undefined;
}

/** An approver that can give the keyboard back. */
export type TerminalApprover = Approver & { close(): void };

const HELP = "Type a, e or d, then Enter.";
const MORE = "... (an empty line starts over) ";

/**
 * Asks in the terminal: a approves, e edits (the arguments as JSON; the edited card is shown and asked about again),
 * d declines, v shows what the card cut. Where a standing permission is possible, `always` gives it. End of input
 * declines; Ctrl-C aborts the call with an AbortError. One card at a time; what was typed before a card is ignored.
 */
export function createTerminalApprover(options: TerminalApproverOptions): TerminalApprover {
  const reader = options.reader ?? new LineReader(options);
  const isColored = options.color ?? hasColors(options.output);
  let previous: Promise<unknown> = Promise.resolve();
  const approve: Approver = (request, { signal }) => {
    const turn = previous.then(() => new Conversation(reader, options.output, isColored).hold(request, signal));
    previous = turn.catch(() => undefined);
    return turn;
  };
  return Object.assign(approve, { close: () => reader.close() });
}

class Conversation {
  readonly #reader: LineReader;
  readonly #output: Terminal["output"];
  readonly #isColored: boolean;

  constructor(reader: LineReader, output: Terminal["output"], isColored: boolean) {
    this.#reader = reader;
    this.#output = output;
    this.#isColored = isColored;
  }

  async hold(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalDecision> {
    const { id, fingerprint } = request;
    let shown = request;
    let isEdited = false;
    await this.#reader.discardTypedAhead();
    this.#showCard(shown, isEdited);
    for (;;) {
      const answer = await this.#ask(describeChoices(shown, isEdited), signal);
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
          return { type: "decline", id, fingerprint, message: "There was no answer at the terminal." };
        case "e": {
          const edited = await this.#readEdit(signal);
          if (edited !== undefined) {
            shown = { ...shown, arguments: edited };
            isEdited = true;
          }
          this.#showCard(shown, isEdited);
          break;
        }
        case "v":
          this.#showCard(shown, isEdited, Number.POSITIVE_INFINITY);
          break;
        default:
          this.#say(HELP);
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
      if (isArguments(value)) return value;
      if (!isEnd) continue;
      this.#say("That is not a JSON object; try again.");
      text = "";
    }
  }

  async #read(prompt: string, signal: AbortSignal): Promise<ReadLine> {
    const line = await this.#reader.read(prompt, signal);
    if (line.kind === "interrupted") throw new DOMException("Stopped at the terminal.", "AbortError");
    return line;
  }

  #showCard(request: ApprovalRequest, isEdited: boolean, maxArguments?: number): void {
    const expiresAt = toLocalTime(request.expiresAt);
    const [title = "", ...lines] = createApprovalCard(
      { ...request, expiresAt },
      {
        howToSeeAll: "Answer v to see everything.",
        ...(maxArguments === undefined ? {} : { maxArguments }),
      },
    );
    this.#say("");
    this.#say(this.#isColored ? `\u001b[1m${title}\u001b[22m` : title);
    for (const line of lines) this.#say(line);
    if (isEdited) this.#say("  Edited by you; files are looked at again before anything is sent.");
  }

  #say(line: string): void {
    this.#output.write(`${line}\n`);
  }
}

function describeChoices(request: ApprovalRequest, isEdited: boolean): string {
  const always = mayStand(request) && !isEdited ? ", always" : "";
  return `[a]pprove, [e]dit, [d]ecline${always}? `;
}

function mayStand(request: ApprovalRequest): boolean {
  return request.effect === "write" && request.connection !== undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isArguments(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function hasColors(output: Terminal["output"]): boolean {
  return output.isTTY === true && "hasColors" in output && typeof output.hasColors === "function" && output.hasColors();
}
