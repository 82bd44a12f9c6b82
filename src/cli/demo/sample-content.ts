import { randomUUID } from "node:crypto";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { renameFile } from "../../shared/base/disk.ts";

/** Name of the attachment in the media folder. */
export const ATTACHMENT_NAME = "quote-2026-114.pdf";

const MAIL = [
  "From: Ada Brunner <ada@brunner-garden.example>",
  "To: You <me@localhost>",
  "Subject: The quote for the terrace",
  "Date: Fri, 20 Nov 2026 08:12:00 +0000",
  "MIME-Version: 1.0",
  "Content-Type: text/plain; charset=utf-8",
  "",
  "Hello,",
  "",
  `could you keep the quote for the terrace (${ATTACHMENT_NAME}) where we both find it?`,
  "",
  "Ada",
  "",
];

/** Puts the sample attachment where a runtime would put one it received; keeps an existing one. */
export async function writeSampleAttachment(mediaRoot: string): Promise<string> {
  const folder = join(mediaRoot, "inbound");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, ATTACHMENT_NAME);
  const pdf = createSamplePdf([
    "Quote 2026-114",
    "Terrace, 24 square metres, oak",
    "Total: 3,840.00",
    "Valid until 31 December 2026",
  ]);
  await writeFile(path, pdf, { mode: 0o600 });
  return path;
}

/** Delivers one unread message into a Maildir the standard way: written to `tmp`, then moved to `new`. */
export async function deliverSampleMail(maildir: string): Promise<void> {
  for (const folder of ["tmp", "new", "cur"]) await mkdir(join(maildir, folder), { recursive: true, mode: 0o700 });
  if ((await readdir(join(maildir, "new"))).length > 0) return;
  const name = `${Math.floor(Date.now() / 1000)}.${randomUUID()}.svc-demo`;
  const waiting = join(maildir, "tmp", name);
  const id = `Message-ID: <${randomUUID()}@brunner-garden.example>`;
  await writeFile(waiting, [id, ...MAIL].join("\r\n"), { mode: 0o600 });
  await renameFile(waiting, join(maildir, "new", name));
}

/**
 * A small, valid one-page PDF with the given lines of plain ASCII text.
 * Made here so that the demo has a real document to attach and the package ships no binary.
 */
function createSamplePdf(lines: readonly string[]): Buffer {
  const text = lines.map((line) => `(${line.replaceAll(/[\\()]/g, "\\$&")}) Tj T*`).join("\n");
  const content = `BT /F1 14 Tf 72 740 Td 22 TL\n${text}\nET`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
  ];
  let body = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const offset = body.length;
    body += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${body.length}\n%%EOF\n`;
  return Buffer.from(`${body}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}${trailer}`, "latin1");
}
