import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One request as the server saw it, complete. */
export interface Recorded {
  readonly method: string;
  /** Path and query, as on the wire. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** What the server answers: a JSON value with a status, or anything written by hand. */
export type Answer =
  | { readonly status?: number; readonly json: unknown; readonly headers?: Readonly<Record<string, string>> }
  | ((request: IncomingMessage, response: ServerResponse) => void);

/** A real server on a free loopback port. */
export interface RecordingServer {
  readonly url: string;
  readonly requests: Recorded[];
  /** Called with each complete request. */
  answer: (request: Recorded) => Answer;
  close(): Promise<void>;
}

/** Starts a server that keeps every request and answers with what `answer` returns. */
export async function startRecordingServer(answer: (request: Recorded) => Answer): Promise<RecordingServer> {
  const recording: { requests: Recorded[]; answer: typeof answer } = { requests: [], answer };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return; // The client ended the request before it was complete.
    }
    const { method = "", url = "", headers } = request;
    const recorded = { method, url, headers, body: Buffer.concat(chunks).toString() };
    recording.requests.push(recorded);
    const reply = recording.answer(recorded);
    if (typeof reply === "function") return reply(request, response);
    response.writeHead(reply.status ?? 200, { "content-type": "application/json", ...reply.headers });
    response.end(JSON.stringify(reply.json));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(recording, {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

/** Runs something that must fail and hands back the failure. */
export async function catchError(run: () => Promise<unknown>): Promise<unknown> {
  try {
    await run();
  } catch (error) {
    return error;
  }
  throw new Error("expected a failure");
}
