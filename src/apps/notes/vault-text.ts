import { ServiceError } from "../../service/service-error.ts";
import { isWindowsDevice } from "../../shared/base/windows-names.ts";
import { changeFrontMatter } from "./front-matter.ts";
import type { PageChange, PageDraft } from "./notebook.ts";
import { breakLines, joinPage, type PageText, replaceYaml, splitPage } from "./page-text.ts";
import type { Page } from "./vault-pages.ts";

const MAX_STEM_BYTES = 200;

/** A title as a file name that every operating system accepts. */
export function toFileName(text: string): string {
  const stem = text
    .normalize("NFC")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes
    .replaceAll(/[\u0000-\u001f\u007f/\\:*?"<>|#^[\]]/g, " ")
    .replaceAll(/\s+/g, " ")
    .replace(/^[. ]+|[. ]+$/g, "");
  const kept = [...stem.toWellFormed()];
  while (Buffer.byteLength(kept.join("")) > MAX_STEM_BYTES) kept.pop();
  const name = kept.join("").trim() || "Untitled";
  return `${name}${isWindowsDevice(name) ? "_" : ""}.md`;
}

/** The text of a new page; `id` is of no other one, and `now` is ISO 8601. */
export function composePage(
  { title, tags, properties, body: given }: PageDraft,
  { id, now }: { readonly id: string; readonly now: string },
): string {
  const front = { id, title, tags, created: now, updated: now, ...properties };
  const body = given === "" || given.endsWith("\n") ? given : `${given}\n`;
  return joinPage(replaceYaml(splitPage(""), changeFrontMatter("", front))) + body;
}

function appendText({ body, lineBreak }: PageText, addition: string): string {
  const start = body === "" || body.endsWith("\n") ? body : `${body}${lineBreak}`;
  return `${start}${breakLines(addition, lineBreak)}${addition.endsWith("\n") ? "" : lineBreak}`;
}

/** A time as this service writes it; one in another form was written by somebody else, and stays. */
const OWN_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** The page after a change; `now` is ISO 8601. Throws ServiceError 400 for front matter that cannot be changed so. */
export function applyChange({ text, properties }: Page, change: PageChange, now: string): PageText {
  const { updated } = properties;
  const front: Record<string, unknown> = {
    ...(change.title === undefined ? {} : { title: change.title }),
    ...(change.tags === undefined ? {} : { tags: change.tags }),
    ...change.properties,
    ...(typeof updated === "string" && OWN_TIME.test(updated) ? { updated: now } : {}),
  };
  const { yaml = "", lineBreak } = text;
  const added = change.append === undefined ? text.body : appendText(text, change.append);
  const body = change.body === undefined ? added : breakLines(change.body, lineBreak);
  const changed = changeFrontMatter(yaml, front, { lineBreak, fields: { title: "new_title", tags: "tags" } });
  return { ...(changed === yaml ? text : replaceYaml(text, changed)), body };
}

/** Throws ServiceError 500 for a page that cannot be written back without loss. */
export function checkReadable({ path, problem }: Page): void {
  if (problem === undefined) return;
  throw new ServiceError(500, "provider_error", `"${path}" cannot be read well enough to be changed: ${problem}`, {
    type: "provider",
    hint: `Open "${path}" and repair it; the front matter is the YAML between its first two "---" lines.`,
  });
}
