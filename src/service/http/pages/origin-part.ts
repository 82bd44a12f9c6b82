import { html } from "hono/html";
import { parseJson } from "../../../shared/base/json.ts";
import { listOrigins } from "../../../shared/card/origin-facts.ts";
import { originsSchema } from "../../../shared/wire/origin.ts";
import type { ApprovalContent } from "../../approvals/approval-rows.ts";
import type { Markup } from "./page.ts";

/** Lines that are not folded away: a phone has the change and what follows from it on its first screen, too. */
const FIRST_LINES = 1;

/** Values of a held call that are not the owner's, right below what it would do; empty where there are none. */
export function strangersPart(content: ApprovalContent): Markup {
  const { strangers, moreStrangers } = listOrigins(readJudged(content));
  if (strangers.length === 0) return html``;
  const folded = [...strangers.slice(FIRST_LINES), ...moreStrangers];
  const more =
    folded.length === 0
      ? ""
      : html`<details class="more"><summary>${folded.length} more of others or unknown</summary>${lineList(folded)}</details>`;
  return html`<div class="notice warn origins" role="group" aria-label="Values that are not yours">${lineList(strangers.slice(0, FIRST_LINES))}${more}</div>`;
}

/** Values of a held call that are the owner's, were typed by them, or are new and lead nowhere; empty where there are none. */
export function knownPart(content: ApprovalContent): Markup {
  const { known, made } = listOrigins(readJudged(content));
  const lines = [...known, ...made];
  return lines.length === 0
    ? html``
    : html`<details class="more"><summary>Where its other values come from</summary>${lineList(lines)}</details>`;
}

function readJudged({ origins, originsPartial }: ApprovalContent) {
  return { origins, originScope: originsPartial === true ? ("partial" as const) : ("all" as const) };
}

/** What a read took to its app from somebody else, in lines; none where it took nothing. */
export function listCarried(carries: string | null): readonly string[] {
  const origins = carries === null ? [] : originsSchema.parse(parseJson(carries));
  const { strangers, moreStrangers } = listOrigins({ origins });
  return [...strangers, ...moreStrangers];
}

function lineList(lines: readonly string[]): Markup {
  return html`<ul class="follows">${lines.map((line) => html`<li>${line}</li>`)}</ul>`;
}
