import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { createTool } from "../../plugin/calls/scripted-service.ts";
import { nameWrite } from "./name-write.ts";

/**
 * What becomes of a request · act: it takes effect and is answered · lose after: it takes effect and the answer is lost ·
 * lose before: it is lost itself · busy: refused, worth another try · refuse: refused.
 */
export const FATES = ["act", "lose after", "lose before", "busy", "refuse"] as const;
export type Fate = (typeof FATES)[number];

/** A request to act that has arrived and waits for its fate. */
export interface Arrival {
  readonly tool: string;
  /** See `nameWrite`. */
  readonly write: string;
  readonly key: string | undefined;
  readonly isConfirmed: boolean;
  /** Returns true when it took effect now. An unconfirmed one never does: it is told to ask first. */
  meet(fate: Fate): boolean;
  /** The connection breaks, as when its process dies. */
  drop(): void;
}

/** A real HTTP server whose requests wait until they are told what becomes of them. */
export interface EffectService {
  readonly url: string;
  /** Told of every request to act, before anything is done about it. */
  onArrival: (arrival: Arrival) => void;
  close(): Promise<void>;
}

const text = { type: "string" };
const file = {
  type: "object",
  file_uploadable: true,
  properties: { name: text, mimetype: text, s3key: text },
};
const accounts = {
  connections: [
    { id: "k1", label: "first", isDefault: true },
    { id: "k2", label: "second" },
  ],
};
const keyed = createTool("probe_keyed", "write");
const TOOLS = [
  createTool("probe_write", "write", accounts),
  createTool("probe_store", "write", {
    ...accounts,
    inputSchema: { type: "object", properties: { text, file }, additionalProperties: false },
  }),
  { ...keyed, canonical: { ...(keyed.canonical as object), idempotency_key: { kept_seconds: 86_400 } } },
  // Nobody says what it does, so that it is sent unconfirmed first.
  createTool("probe_vague", "write", { canonical: undefined }),
];

/** Starts the server on a free port of the loopback address. */
export async function startEffectService(): Promise<EffectService> {
  const answered = new Map<string, unknown>();
  const server = createServer((request, response) => {
    const { method = "GET", url: path = "/" } = request;
    if (method === "GET") return answerTools(path, response);
    void readBody(request).then((body) => {
      if (body !== undefined) service.onArrival(createArrival(path, body, response, answered));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const service: EffectService = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    onArrival: () => undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return service;
}

function answerTools(path: string, response: ServerResponse): void {
  const [pathname = ""] = path.split("?");
  const tool = TOOLS.find(({ name }) => pathname === `/api/tools/${name}`);
  const list = TOOLS.map((one) => ({ ...one, inputSchema: null }));
  if (tool !== undefined) send(response, 200, { tool });
  else if (pathname !== "/api/tools") send(response, 404, { error: "Not found" });
  else send(response, 200, { tools: list, count: list.length, total: list.length, truncated: false });
}

interface Body {
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly input?: Readonly<Record<string, unknown>>;
  readonly action_id?: string;
  readonly connectionId?: string;
  readonly confirmed?: boolean;
  readonly idempotency_key?: string;
  readonly files?: readonly { readonly dataBase64: string }[];
}

/** Undefined for a request that was broken off. */
async function readBody(request: IncomingMessage): Promise<Body | undefined> {
  try {
    return JSON.parse((await buffer(request)).toString("utf8")) as Body;
  } catch {
    return undefined;
  }
}

function createArrival(path: string, body: Body, response: ServerResponse, answered: Map<string, unknown>): Arrival {
  const key = body.idempotency_key;
  const tool = body.action_id ?? path.split("/").at(-2) ?? "";
  const isConfirmed = key !== undefined || body.confirmed === true;
  const digests = (body.files ?? []).map(({ dataBase64 }) =>
    createHash("sha256").update(Buffer.from(dataBase64, "base64")).digest("hex"),
  );
  const write = nameWrite({ tool, args: body.input ?? body.arguments ?? {}, connection: body.connectionId, digests });
  return {
    tool,
    write,
    key,
    isConfirmed,
    drop: () => response.destroy(),
    meet(fate) {
      if (fate === "lose before" || (!isConfirmed && fate === "lose after")) {
        response.destroy();
        return false;
      }
      if (!isConfirmed) {
        refuse(response, 412, "confirmation_required", false);
        return false;
      }
      const known = key === undefined ? undefined : answered.get(key);
      if (known === undefined && fate === "busy") refuse(response, 429, "rate_limited", true);
      else if (known === undefined && fate === "refuse") refuse(response, 422, "probe_refused", false);
      else {
        const answer = known ?? createAnswer(key);
        if (key !== undefined) answered.set(key, answer);
        if (fate === "lose after") response.destroy();
        else send(response, 200, answer);
        return known === undefined;
      }
      return false;
    },
  };
}

function createAnswer(key: string | undefined): unknown {
  if (key === undefined) return { ok: true, result: { done: true } };
  return { execution_id: `execution of ${key}`, status: "succeeded", output: { done: true } };
}

function refuse(response: ServerResponse, status: number, code: string, retryable: boolean): void {
  send(response, status, { ok: false, error: { code, message: `The service says ${code}.`, retryable } });
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
