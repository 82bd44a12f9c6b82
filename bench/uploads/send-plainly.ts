import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { type Dispatcher, request } from "undici";

/** Sends files as other packages do: each read whole, made base64 text, and everything together made one JSON text. */
export async function sendPlainly(dispatcher: Dispatcher, url: string, paths: readonly string[]): Promise<void> {
  const files = await Promise.all(
    paths.map(async (path) => {
      const bytes = await readFile(path);
      const md5 = createHash("md5").update(bytes).digest("hex");
      return {
        pointer: basename(path),
        name: basename(path),
        mimetype: "text/plain",
        md5,
        dataBase64: bytes.toString("base64"),
      };
    }),
  );
  const named = files.map(({ pointer, name, mimetype }) => ({ name, mimetype, s3key: pointer }));
  const reply = await request(`${url}/api/tools/bench_upload/execute`, {
    dispatcher,
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ arguments: { files: named }, confirmed: true, files }),
  });
  await reply.body.dump();
}
