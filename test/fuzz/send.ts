import { Pool } from "undici";
import type { FuzzOperation } from "./document.ts";
import type { FuzzRequest } from "./requests.ts";

/** Sends requests and judges the answers. */
export interface Sender {
  /** Problems of the answer; none when it is as documented. */
  judge(operation: FuzzOperation, request: FuzzRequest): Promise<{ status: number; problems: string[] }>;
  send(request: FuzzRequest): Promise<{ status: number; contentType: string | undefined; text: string }>;
  close(): Promise<void>;
}

const STACK =
  /\n\s+at |node:internal|\.[cm]?[jt]s:\d+:\d+|ENOENT|EACCES|SQLITE|SqliteError|undefined is not|of undefined/;

/** `secrets` are texts that no answer may hold, such as the data folder. */
export function createSender(url: string, secrets: readonly string[]): Sender {
  const pool = new Pool(url, { connections: 8, bodyTimeout: 30_000, headersTimeout: 30_000 });
  const send: Sender["send"] = async ({ method, path, headers, body }) => {
    const reply = await pool.request({ method, path, headers: { ...headers }, body: body ?? null });
    const type = reply.headers["content-type"];
    return { status: reply.statusCode, contentType: type?.toString(), text: await reply.body.text() };
  };
  return {
    send,
    async judge(operation, request) {
      const { status, contentType, text } = await send(request);
      const problems = operation.check(status, contentType, text) ?? [
        `undocumented status ${status}: ${text.slice(0, 300)}`,
      ];
      if (STACK.test(text)) problems.push(`tells about its inside: ${STACK.exec(text)?.[0]}`);
      for (const secret of secrets) if (text.includes(secret)) problems.push(`tells ${secret}`);
      return { status, problems };
    },
    close: () => pool.close(),
  };
}
