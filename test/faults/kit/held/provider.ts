import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";

/** An HTTP API outside the service, which counts what it was asked to write. */
export interface Provider {
  /** Its OpenAPI document, to be added as an app. */
  readonly document: object;
  /** How often each text was written. */
  readonly counts: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

const object = (properties: object) => ({
  required: true,
  content: { "application/json": { schema: { type: "object", properties, required: Object.keys(properties) } } },
});
const answers = { 200: { description: "Done", content: { "application/json": { schema: { type: "object" } } } } };
const line = { type: "string", description: "What to write." };
const upload = { line, file: { type: "string", format: "binary" } };

/** A write takes up to so many milliseconds before, and again after, it is counted. */
const LATENCY_MS = 15;

/**
 * Starts the API.
 *
 * @param onWrite told of every write as it takes effect
 */
export async function startProvider(random: () => number, onWrite: (line: string) => void): Promise<Provider> {
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    // The service may have been killed before its request was whole.
    void answer(request).then(
      ({ status, body }) =>
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body)),
      () => response.destroy(),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");

  async function answer(request: IncomingMessage): Promise<{ status: number; body: object }> {
    const { pathname } = new URL(request.url ?? "", "http://provider");
    if (request.method === "GET") {
      const asked = decodeURIComponent(pathname.split("/").at(-1) ?? "");
      return { status: 200, body: { count: counts.get(asked) ?? 0 } };
    }
    const written = /write-[\w-]+/.exec(await text(request))?.[0];
    if (written === undefined) return { status: 400, body: {} };
    await delay(random() * LATENCY_MS);
    counts.set(written, (counts.get(written) ?? 0) + 1);
    onWrite(written);
    await delay(random() * LATENCY_MS);
    return { status: 200, body: { written } };
  }

  return {
    counts,
    document: {
      openapi: "3.1.0",
      info: { title: "Tally", version: "1" },
      servers: [{ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }],
      paths: {
        "/lines": { post: { operationId: "write", requestBody: object({ line }), responses: answers } },
        "/files": {
          post: {
            operationId: "upload",
            requestBody: {
              required: true,
              content: {
                "multipart/form-data": { schema: { type: "object", properties: upload, required: ["line", "file"] } },
              },
            },
            responses: answers,
          },
        },
        "/lines/{line}": {
          get: {
            operationId: "count",
            parameters: [{ name: "line", in: "path", required: true, schema: { type: "string" } }],
            responses: answers,
          },
        },
      },
    },
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
