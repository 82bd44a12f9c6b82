import { randomUUID } from "node:crypto";
import type { HeldFile } from "../../integrations/integration.ts";

/** Writes a form (RFC 7578): members that are files as file parts, objects and lists of them as JSON. */
export function writeForm(
  members: Readonly<Record<string, unknown>>,
  findFile: (value: unknown) => HeldFile | undefined,
): { type: string; bytes: AsyncIterable<Uint8Array> } {
  const boundary = `svc-${randomUUID()}`;
  const parts = Object.entries(members).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) => ({ name, one })),
  );
  async function* write(): AsyncGenerator<Uint8Array> {
    for (const { name, one } of parts) {
      const file = findFile(one);
      if (file === undefined) {
        const isJson = typeof one === "object" && one !== null;
        const type = isJson ? "\r\ncontent-type: application/json" : "";
        yield encode(`--${boundary}\r\ncontent-disposition: form-data; name="${quote(name)}"${type}\r\n\r\n`);
        yield encode(`${isJson ? JSON.stringify(one) : String(one)}\r\n`);
        continue;
      }
      const place = `content-disposition: form-data; name="${quote(name)}"; filename="${quote(file.name)}"`;
      yield encode(`--${boundary}\r\n${place}\r\ncontent-type: ${file.mimetype}\r\n\r\n`);
      for await (const bytes of file.open()) yield bytes;
      yield encode("\r\n");
    }
    yield encode(`--${boundary}--\r\n`);
  }
  return { type: `multipart/form-data; boundary=${boundary}`, bytes: write() };
}

function encode(text: string): Uint8Array {
  return Buffer.from(text, "utf8");
}

function quote(text: string): string {
  return text.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}
