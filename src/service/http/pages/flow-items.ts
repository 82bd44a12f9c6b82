import { html } from "hono/html";
import { isRecord } from "../../../shared/base/json.ts";
import { EXACT, toPlainText } from "../../../shared/card/plain-text.ts";
import type { FlowPreview } from "../../../shared/wire/flow.ts";
import { listNames } from "../../flows/describe-wait.ts";
import { type ShownCall, shownCallSchema } from "../../flows/own/compile-template.ts";
import type { Markup } from "./page.ts";
import { previewPart } from "./preview-part.ts";
import { dataView, nameOf, tag } from "./values.ts";

/** Longest name of an item, in characters. */
const MAX_ITEM_NAME = 120;

/** Everything that is done by an approval; of several things, each has a box that leaves it out. */
export function itemChoice(items: readonly unknown[], previews: readonly FlowPreview[]): Markup {
  const list = (isChoice: boolean) => {
    const rows = items.map((item, index) => {
      return itemRow({ item, index, isChoice, previews: previews.filter((one) => one.item === index) });
    });
    return html`<ul class="data">${rows}</ul>`;
  };
  if (items.length < 2) return list(false);
  return html`<fieldset><legend>Untick what is to be left out</legend><input type="hidden" name="choice" value="yes">
${list(true)}</fieldset>`;
}

interface Item {
  readonly item: unknown;
  readonly index: number;
  readonly isChoice: boolean;
  readonly previews: readonly FlowPreview[];
}

function itemRow({ item, index, isChoice, previews }: Item): Markup {
  const name = toPlainText(listNames(item)[0] ?? `Number ${index + 1}`, { max: MAX_ITEM_NAME });
  const box = html`<div class="choice"><input type="checkbox" id="item-${index}" name="item" value="${index}" checked><label for="item-${index}"><strong>${name}</strong></label></div>`;
  return html`<li>${isChoice ? box : html`<p><strong>${name}</strong></p>`}
${raisedLine(item)}
${flowPreviews(previews)}
${previews.some(({ preview }) => preview !== undefined) ? html`<details><summary>As it is sent<span class="hidden">: ${name}</span></summary>${itemView(item, name)}</details>` : itemView(item, name)}</li>`;
}

/** What an item is made of, without the name that stands above it. */
function itemView(item: unknown, name: string): Markup {
  const call = shownCallSchema.safeParse(item).data;
  if (call !== undefined) return html`<p class="muted"><code>${call.tool}</code></p>${dataView(call.arguments)}`;
  return dataView(
    isRecord(item) ? Object.fromEntries(Object.entries(item).filter(([, value]) => value !== name)) : item,
  );
}

function raisedLine(item: unknown): Markup | "" {
  const { level, does }: Partial<ShownCall> = shownCallSchema.safeParse(item).data ?? {};
  if (level !== "delete" && level !== "admin") return "";
  return html`<p class="problem">${tag("bad", level === "admin" ? "Administers" : "Deletes something")} ${does === undefined ? "" : `It ${toPlainText(does)}.`}</p>`;
}

/** What the calls after an approval would do, one after another; nothing where nobody can tell. */
export function flowPreviews(previews: readonly FlowPreview[]): Markup {
  return html`${previews.map(flowPreview)}`;
}

function flowPreview({ preview, missing, label, stepKey, item }: FlowPreview): Markup {
  if (preview !== undefined)
    return html`<p><strong>${toPlainText(preview.summary, EXACT)}</strong></p>${previewPart({ preview })}`;
  if (missing === undefined) return html``;
  // An item has its name above.
  const name = item === undefined ? html`<p><strong>${toPlainText(label ?? nameOf(stepKey), EXACT)}</strong></p>` : "";
  if (missing.code === "not_readable") return html`${name}${previewPart({ preview: undefined, previewFailed: true })}`;
  return html`${name}<p class="notice warn">${toPlainText(missing.text, EXACT)}</p>`;
}
