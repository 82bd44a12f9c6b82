import { request } from "undici";
import type { Server } from "../processes/start-server.ts";
import type { ServiceProcess } from "../processes/start-service.ts";
import type { Measure } from "../report/part-report.ts";
import { reportProgress } from "../report/run-part.ts";
import { takeTurns } from "../report/take-turns.ts";
import { type Load, runLoad } from "./load.ts";

const BARE = "bare Hono handler";
const SDK = "MCP SDK 1.32.2 server";
const BEFORE = "before";
const CONNECTIONS = 16;

/** The servers that are measured beside each other. */
export interface Servers {
  readonly service: ServiceProcess;
  /** Of another checkout. */
  readonly before: ServiceProcess | undefined;
  readonly bare: Server;
  readonly sdk: Server;
}

/** How often and how long each load is sent. */
export interface LoadOptions {
  readonly rounds: number;
  readonly seconds: number;
}

interface Request extends Omit<Load, "origin" | "headers"> {
  /** Smallest share of the bare handler's requests. */
  readonly target?: number;
}

/**
 * Requests per second of the kinds of requests agents make, each beside an answer of the same size by the framework
 * with nothing behind it; MCP beside the official SDK too.
 */
export async function compareLoads(servers: Servers, options: LoadOptions): Promise<Measure[]> {
  const canonical = { integration_id: "drive", action_id: await findActionId(servers.service), input: {} };
  const requests: Record<string, Request> = {
    "GET /api/tools": { path: "/api/tools", method: "GET" },
    "GET /api/tools/search": { path: "/api/tools/search?query=unread%20mail", method: "GET" },
    "GET /api/tools/{name}": { path: "/api/tools/drive_upload_file", method: "GET" },
    "execute a read": {
      path: "/api/tools/drive_list_files/execute",
      method: "POST",
      body: '{"arguments":{}}',
      target: 0.105,
    },
    "execute a read, canonical": {
      path: "/api/executions",
      method: "POST",
      body: JSON.stringify(canonical),
      target: 0.13,
    },
    "MCP tools/call": { path: "/api/mcp", method: "POST", body: callTool("svc.search", { query: "unread mail" }) },
  };
  const measures: Measure[] = [];
  for (const [name, one] of Object.entries(requests)) measures.push(await compare(name, one, servers, options));
  return measures;
}

async function findActionId({ url, apiKey }: ServiceProcess): Promise<string> {
  const reply = await request(`${url}/api/tools/drive_list_files`, { headers: { "x-svc-api-key": apiKey } });
  const { tool } = (await reply.body.json()) as { tool: { canonical: { action: { action_id: string } } } };
  return tool.canonical.action.action_id;
}

function callTool(name: string, args: Record<string, unknown>): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } });
}

async function compare(
  name: string,
  { target, ...one }: Request,
  servers: Servers,
  options: LoadOptions,
): Promise<Measure> {
  reportProgress(name);
  const { service, before, bare, sdk } = servers;
  const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const ask = ({ url, apiKey }: ServiceProcess): Load => {
    return { ...one, origin: url, headers: { ...json, "x-svc-api-key": apiKey } };
  };
  const own = ask(service);
  const { replyBytes } = await runLoad(own, CONNECTIONS, options.seconds / 4);
  const others: [name: string, load: Load][] = [
    [BARE, { ...one, origin: bare.url, headers: json, path: `/bare?size=${replyBytes}` }],
  ];
  if (one.path === "/api/mcp") {
    const body = callTool("fill", { size: replyBytes });
    const headers = { ...json, ...(await openSession(sdk)) };
    others.push([SDK, { ...one, origin: sdk.url, path: "/", headers, body }]);
  }
  if (before !== undefined) others.push([BEFORE, ask(before)]);
  const loads = [own, ...others.map(([, load]) => load)];
  const results = await takeTurns(loads, { ...options, warmUps: 1 }, (load) =>
    runLoad(load, CONNECTIONS, options.seconds),
  );
  const [samples = [], ...peers] = results.map((list) => list.map(({ perSecond }) => perSecond));
  return {
    what: name,
    unit: "requests/s",
    samples,
    peers: peers.map((list, index) => ({ name: others[index]?.[0] ?? "", samples: list })),
    targets: target === undefined ? [] : [{ bound: "at least", limit: target, ratioTo: BARE }],
  };
}

/** Greets the SDK's server; returns the headers of the session. */
async function openSession({ url }: Server): Promise<Record<string, string>> {
  const version = "2025-06-18";
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const clientInfo = { name: "bench", version: "1" };
  const params = { protocolVersion: version, capabilities: {}, clientInfo };
  const hello = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params });
  const reply = await request(url, { method: "POST", headers, body: hello });
  await reply.body.dump();
  const session = { "mcp-session-id": String(reply.headers["mcp-session-id"]), "mcp-protocol-version": version };
  const ready = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });
  const accepted = await request(url, { method: "POST", headers: { ...headers, ...session }, body: ready });
  await accepted.body.dump();
  return session;
}
