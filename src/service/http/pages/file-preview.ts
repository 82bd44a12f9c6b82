import { Readable } from "node:stream";
import { html } from "hono/html";
import { EXACT, toPlainText } from "../../../shared/card/plain-text.ts";
import type { ApprovalContent } from "../../approvals/approval-rows.ts";
import type { BlobStore, StoredFile } from "../../files/blob-store.ts";
import { looksLikeText, sniffMimetype } from "../../files/sniff-mimetype.ts";
import { ServiceError } from "../../service-error.ts";
import { markHeadings, writeExactly } from "./exact-value.ts";
import type { Markup } from "./page.ts";
import { foldedText, tag } from "./values.ts";

/** A file of a held call. */
type HeldFile = ApprovalContent["files"][number];

/** Bytes of a text that are shown, and by which a type is told. */
const HEAD_BYTES = 16 * 1024;
/** Largest picture that is shown. */
const MAX_PICTURE_BYTES = 10 * 1024 * 1024;
/** Pictures without scripts, links or text of their own. */
const PICTURES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** A file with the type of its bytes, whatever its name and its sender say. */
export interface SeenFile extends HeldFile {
  /** MIME type by the bytes; undefined when they tell none, or are not kept any more. */
  readonly type: string | undefined;
  readonly isPicture: boolean;
  /** Beginning of a text. */
  readonly text: string | undefined;
}

/** Looks into the bytes of a file. */
export async function seeFile(blobs: BlobStore, accountId: string, file: HeldFile): Promise<SeenFile> {
  const stored = await blobs.get(accountId, file.s3key);
  if (stored === undefined) return { ...file, type: undefined, isPicture: false, text: undefined };
  const head = await readHead(blobs, stored);
  const found = await sniffMimetype(head, "");
  const type = found === "application/octet-stream" ? undefined : found;
  const isText = head.length > 0 && (await looksLikeText(head));
  const text = isText ? new TextDecoder().decode(head, { stream: head.length < stored.size }) : undefined;
  return { ...file, type, isPicture: PICTURES.has(found) && stored.size <= MAX_PICTURE_BYTES, text };
}

async function readHead(blobs: BlobStore, stored: StoredFile): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of blobs.open(stored)) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= HEAD_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, HEAD_BYTES);
}

/** Bytes that a stranger chose: a browser runs nothing of them, and knows no other type than ours. */
const BYTE_HEADERS = {
  "content-security-policy": "default-src 'none'; sandbox",
  "cross-origin-resource-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
};

/**
 * Answers with the bytes of a file: to be saved, or as a picture of exactly the type that they have.
 *
 * @throws ServiceError 404 `not_found` when they are not kept any more, or are no picture that can be shown
 */
export async function sendFile(
  blobs: BlobStore,
  { accountId, file, asPicture }: { accountId: string; file: HeldFile | undefined; asPicture: boolean },
): Promise<Response> {
  const stored = file && (await blobs.get(accountId, file.s3key));
  if (stored === undefined) throw new ServiceError(404, "not_found", "This file is not kept any more.");
  const { type, isPicture } = await seeFile(blobs, accountId, file as HeldFile);
  if (asPicture && !isPicture) throw new ServiceError(404, "not_found", "This file is no picture that can be shown.");
  const kind =
    asPicture && type !== undefined
      ? { "content-type": type }
      : { "content-type": "application/octet-stream", "content-disposition": "attachment" };
  const body = Readable.toWeb(blobs.open(stored)) as ReadableStream;
  return new Response(body, { headers: { ...BYTE_HEADERS, ...kind } });
}

/** The files of a call, each with its digest, and with a look at its bytes. */
export function fileList(id: string, files: readonly SeenFile[]): Markup {
  if (files.length === 0) return html``;
  return html`<h2>Files: ${files.length}</h2><ul class="rows files">${files.map((file, index) => fileRow(`/inbox/${id}/files/${index}`, file))}</ul>`;
}

function fileRow(path: string, file: SeenFile): Markup {
  const name = writeExactly(file.name);
  const isOther = file.type !== undefined && file.type !== file.mimetype && file.text === undefined;
  return html`<li><div><strong class="name">${name}</strong><span class="muted"><span class="field-name">${writeExactly(file.field)}</span> · ${toPlainText(file.mimetype, EXACT)} · ${file.size.toLocaleString("en-US")} bytes</span></div><a class="button quiet" href="${path}" download="${toPlainText(file.name, EXACT)}" aria-label="Download ${name}">Download</a>
${isOther ? html`<p class="problem">${tag("warn", `Its bytes are ${file.type}`)}</p>` : ""}
<p class="muted digest">SHA-256 <code>${file.sha256}</code></p>
${file.isPicture ? html`<a class="picture" href="${path}/picture" aria-label="Whole picture ${name}"><img src="${path}/picture" alt="Preview of ${name}" loading="lazy"></a>` : ""}
${file.text === undefined ? "" : textPreview(file, file.text)}</li>`;
}

/** The source of a text, never drawn as HTML or Markdown. */
function textPreview({ name, size }: SeenFile, text: string): Markup {
  const shown = Math.min(size, HEAD_BYTES);
  const part = shown < size ? `, the first ${shown.toLocaleString("en-US")} bytes` : "";
  return html`<details><summary>Text of ${writeExactly(name)}${part}</summary><div class="value">${foldedText(toPlainText(text, { ...EXACT, keepLines: true }), markHeadings)}</div></details>`;
}
