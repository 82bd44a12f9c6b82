import { createServer, type IncomingMessage } from "node:http";
import { listenPausably } from "../../service/pausable-server.ts";

/** One request as it arrived. */
interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** What the API answers next. */
export interface MockAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Ends the connection without an answer. */
  readonly drop?: true;
  /** Never answers. */
  readonly hang?: true;
}

/** An HTTP API on loopback that notes what it is asked. */
export async function startMockApi() {
  const seen: SeenRequest[] = [];
  const answers: MockAnswer[] = [];
  let always: MockAnswer = {};
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    seen.push({
      method: request.method ?? "",
      path: request.url ?? "",
      headers: request.headers,
      body: Buffer.concat(parts),
    });
    const { status = 200, headers = JSON_TYPE, body = "{}", drop, hang } = answers.shift() ?? always;
    if (hang) return;
    if (drop) return void request.socket.destroy();
    response.writeHead(status, headers).end(request.method === "HEAD" ? undefined : body);
  });
  const { port, ...listener } = await listenPausably(server);
  return {
    url: `http://127.0.0.1:${port}/v1`,
    seen,
    /** Answers the next requests so, in this order; after them as `behave` says. */
    answer: (...next: MockAnswer[]) => void answers.push(...next),
    /** Answers every request so; without one `{}`. */
    behave: (answer: MockAnswer = {}) => {
      always = answer;
    },
    ...listener,
  };
}

const JSON_TYPE = { "content-type": "application/json" };
