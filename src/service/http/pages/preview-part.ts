import { html } from "hono/html";
import { EXACT, toPlainText } from "../../../shared/card/plain-text.ts";
import { type DiffLine, describeUndo, listDiffLines } from "../../../shared/card/preview-facts.ts";
import type { Preview, PreviewChange } from "../../../shared/wire/preview.ts";
import type { ApprovalContent } from "../../approvals/approval-rows.ts";
import type { Markup } from "./page.ts";
import { foldedText } from "./values.ts";

/** What a held call would do, before everything else that is known of it; empty where nobody looked. */
export function previewPart({
  preview,
  previewFailed,
}: Pick<ApprovalContent, "preview"> & Partial<Pick<ApprovalContent, "previewFailed">>): Markup {
  if (preview === undefined) {
    return previewFailed
      ? html`<p class="notice warn">The present state could not be read when this was asked: what is there now, and what would be replaced, is not known.</p>`
      : html``;
  }
  const [texts, values] = [preview.changes.filter(isText), preview.changes.filter((change) => !isText(change))];
  const things = objectList(preview);
  const isOne = preview.objects.length === 1;
  // A long text comes last, so that what follows from the call is seen before it.
  return html`${changeList(values)}
${consequenceList(preview)}
${isOne ? things : ""}
${changeList(texts)}
${isOne ? "" : things}`;
}

/** Longest value that is shown among others, in characters. */
const MAX_SHORT = 160;

function isText({ before = "", after = "", diff }: PreviewChange): boolean {
  return diff !== undefined || [before, after].some((side) => side.length > MAX_SHORT || side.includes("\n"));
}

function consequenceList({ effects, undo }: Preview): Markup {
  return html`<ul class="follows">${effects.map(({ text }) => html`<li>${plain(text)}</li>`)}<li>Undo: ${describeUndo(undo, plain)}</li></ul>`;
}

function plain(text: string): string {
  return toPlainText(text, EXACT);
}

function changeList(changes: readonly PreviewChange[]): Markup {
  return changes.length === 0 ? html`` : html`<dl class="changed">${changes.map(changeRow)}</dl>`;
}

/** Always a text, so that it needs no quotes. */
function side(text: string): Markup {
  return foldedText(toPlainText(text, { ...EXACT, keepLines: true }), (part) => html`${part}`);
}

function changeRow({ field, before, after, diff }: PreviewChange): Markup {
  if (diff !== undefined)
    return html`<div><dt>${plain(field)}</dt><dd class="whole"><pre class="diff">${listDiffLines(diff).map(diffLine)}</pre></dd></div>`;
  const was = before === undefined ? "" : html`<del><span class="hidden">Was: </span>${side(before)}</del>`;
  const is =
    after === undefined
      ? html`<span class="muted">goes away</span>`
      : html`<ins><span class="hidden">Becomes: </span>${side(after)}</ins>`;
  return html`<div><dt>${plain(field)}</dt><dd class="value change">${was}${is}</dd></div>`;
}

function diffLine({ sign, text }: DiffLine): Markup {
  const line = plain(text);
  if (sign === "@") return html`<span class="muted">⋯</span>`;
  if (sign === "\\") return html`<span class="muted">${line}</span>`;
  if (sign === " ") return html`<span>  ${line}</span>`;
  return sign === "+" ? html`<ins>+ ${line}</ins>` : html`<del>− ${line}</del>`;
}

function objectList({ objects, objectCount }: Preview): Markup {
  if (objects.length === 0) return html``;
  const rest = objectCount - objects.length;
  return html`<ul class="data objects${objects.length > 1 ? " many" : ""}">${objects.map(
    ({ kind, name, details }) => html`<li>${plain(kind)} <strong>${plain(name)}</strong>
${details.length === 0 ? "" : html`<dl>${details.map(({ label, value }) => html`<div><dt>${plain(label)}</dt><dd>${plain(value)}</dd></div>`)}</dl>`}</li>`,
  )}</ul>${rest > 0 ? html`<p class="muted">And ${rest.toLocaleString("en-US")} more.</p>` : ""}`;
}
