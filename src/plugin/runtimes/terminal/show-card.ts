import { layOutFacts } from "../../../shared/card/card-layout.ts";
import { describeRequest } from "../../calls/ask/card.ts";
import type { ApprovalRequest } from "../../calls/ask/request.ts";
import type { Terminal } from "./line-reader.ts";

const COLUMNS = 80;
const HEAD = "Approval needed";
const EDITED = "[edited by you; files are looked at again before anything is sent]";
/** Stands above the question of a call of which the window shows a part; also the answer to a yes that comes too early. */
export const NOT_COMPLETE = "NOT COMPLETE: v shows all of it. A yes before that does not count.";
/** Rows of facts where there is no window, as in a file. */
const UNBOUNDED_ROWS = 100;

/** Draws a request for the window of `output`; `prompt` is shown below the question. */
export function drawCard(
  request: ApprovalRequest,
  { output, prompt, isEdited }: { output: Terminal["output"]; prompt: string; isEdited: boolean },
) {
  const columns = output.columns ?? COLUMNS;
  const { facts, question } = describeRequest({ ...request, expiresAt: toLocalTime(request.expiresAt) });
  const asked = layOutFacts([question], { columns, rows: Number.POSITIVE_INFINITY }).rows;
  const head = isEdited ? [HEAD, EDITED] : [HEAD];
  const count = (lines: readonly string[]) => lines.reduce((sum, line) => sum + Math.ceil(line.length / columns), 0);
  const taken = count([...head, prompt]) + asked.length;
  const rows = output.rows === undefined ? UNBOUNDED_ROWS : Math.max(1, output.rows - taken);
  const { isComplete } = layOutFacts(facts, { columns, rows });
  const note = isComplete ? [] : [NOT_COMPLETE];
  // One row of a page is its prompt, which may take two; below the last page stands the question.
  const size = output.rows === undefined ? Number.POSITIVE_INFINITY : Math.max(1, output.rows - 2);
  const all = [...head, ...layOutFacts(facts, { columns, rows: Number.POSITIVE_INFINITY }).rows];
  return {
    /** As many facts as fit together with the question. */
    rows: [...head, ...layOutFacts(facts, { columns, rows: Math.max(1, rows - count(note)) }).rows, ...note],
    /** False when they are not all facts about the call. */
    isComplete,
    /** Tool, effect and account, to stand right above the prompt. */
    question: asked,
    /** Everything, in pieces that fit the window. */
    pages: cutPages(all, size, rows),
  };
}

function cutPages(rows: readonly string[], size: number, lastSize: number): string[][] {
  if (rows.length <= lastSize || size === Number.POSITIVE_INFINITY) return [[...rows]];
  const page = rows.slice(0, Math.min(size, rows.length - 1));
  return [page, ...cutPages(rows.slice(page.length), size, lastSize)];
}

/** A time as the clock of this machine shows it, e.g. `2026-03-04 10:15:00`, for a person at the terminal. */
export function toLocalTime(iso: string): string {
  return new Date(iso).toLocaleString("sv-SE");
}
