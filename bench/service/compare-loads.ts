import { isDeepStrictEqual } from "node:util";
import { request } from "undici";
import { readCpuOf } from "../processes/read-usage.ts";
import type { Server } from "../processes/start-server.ts";
import type { ServiceProcess } from "../processes/start-service.ts";
import type { Measure, Target } from "../report/part-report.ts";
import { reportProgress } from "../report/run-part.ts";
import { median } from "../report/statistics.ts";
import { takeTurns } from "../report/take-turns.ts";
import { type Load, type LoadResult, runLoad } from "./load.ts";
import { type LoadKind, listKinds, MCP_SEARCH, readAnswers } from "./requests.ts";

const BARE = "bare Hono handler";
/** Name of the other checkout among the peers. */
export const BEFORE = "before";
/** Names of the SDK's two servers. */
const SDKS = ["MCP SDK 1.32.2 server", "MCP SDK 2.4.0 server"] as const;
/** Least share of the requests of either. */
const SDK_TARGET = 1.5;
/** Connections that send requests at one time. */
export const CONNECTIONS = 16;
const JSON_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** The servers that are measured beside each other. */
export interface Servers {
  readonly service: ServiceProcess;
  /** Of another checkout. */
  readonly before: ServiceProcess | undefined;
  readonly bare: Server;
  /** The official SDK's: version 1 and 2. */
  readonly sdks: readonly Server[];
}

/** How often and how long each load is sent. */
export interface LoadOptions {
  readonly rounds: number;
  readonly seconds: number;
}

/** A load and the server that it is sent to. */
interface Candidate {
  readonly name: string;
  readonly pid: number;
  readonly load: Load;
}

/**
 * Requests per second of the kinds of requests agents make, each beside answers of the same size by the framework with
 * nothing behind it; MCP beside the official SDK too. The notes say what the load generator took of the machine.
 */
export async function compareLoads(servers: Servers, options: LoadOptions) {
  const measures: Measure[] = [];
  const notes: string[] = [];
  const sessions = await Promise.all(servers.sdks.map(openSession));
  for (const kind of await listKinds(servers.service)) {
    reportProgress(kind.name);
    const candidates = await listCandidates(kind, servers, sessions);
    const results = await takeTurns(candidates, { ...options, warmUps: 1 }, ({ load, pid }) =>
      measureUse(pid, () => runLoad(load, CONNECTIONS, options.seconds)),
    );
    measures.push(toMeasure(kind, candidates, results));
    notes.push(`${kind.name}: ${candidates.map(describeUse(results)).join("; ")}.`);
  }
  return { measures, notes };
}

interface UsedResult extends LoadResult {
  readonly ms: number;
  /** CPU time of the server in milliseconds. */
  readonly serverCpuMs: number;
}

async function measureUse(pid: number, run: () => Promise<LoadResult>): Promise<UsedResult> {
  const [before, begun] = [readCpuOf(pid), performance.now()];
  const result = await run();
  return { ...result, ms: performance.now() - begun, serverCpuMs: readCpuOf(pid) - before };
}

function toMeasure(kind: LoadKind, candidates: readonly Candidate[], results: readonly UsedResult[][]): Measure {
  const [samples = [], ...others] = results.map((list) => list.map(({ perSecond }) => perSecond));
  const peers = others.map((list, index) => ({ name: candidates[index + 1]?.name ?? "", samples: list }));
  const least = (limit: number, ratioTo: string): Target => ({ bound: "at least", limit, ratioTo });
  const targets = [
    ...(kind.target === undefined ? [] : [least(kind.target, BARE)]),
    ...(kind.gain === undefined || !peers.some(({ name }) => name === BEFORE) ? [] : [least(kind.gain, BEFORE)]),
    ...(kind.name.startsWith(MCP_SEARCH) ? SDKS.map((name) => least(SDK_TARGET, name)) : []),
  ];
  return { what: kind.name, unit: "requests/s", samples, peers, targets };
}

function describeUse(results: readonly UsedResult[][]) {
  return ({ name }: Candidate, index: number) => {
    const list = results[index] ?? [];
    const describe = (read: (result: UsedResult) => number) => {
      const perRequest = median(list.map((result) => (read(result) / result.count) * 1000));
      const share = median(list.map((result) => read(result) / result.ms));
      return `${perRequest.toFixed(0)} (${share.toFixed(2)})`;
    };
    return `${name} ${describe(({ serverCpuMs }) => serverCpuMs)}, its load ${describe(({ cpuMs }) => cpuMs)}`;
  };
}

async function listCandidates(
  { name, method, requests }: LoadKind,
  servers: Servers,
  sessions: readonly Record<string, string>[],
): Promise<Candidate[]> {
  const { service, before, bare, sdks } = servers;
  const ask = ({ url, apiKey }: ServiceProcess): Load => {
    return { origin: url, method, requests, headers: { ...JSON_HEADERS, "x-svc-api-key": apiKey } };
  };
  const own = ask(service);
  const answers = await readAnswers(own);
  const sized = requests.map((one, at) => ({ ...one, path: `/bare?size=${Buffer.byteLength(answers[at] ?? "")}` }));
  const candidates: Candidate[] = [
    { name: "svc-agent-plugin", pid: service.pid, load: own },
    { name: BARE, pid: bare.pid, load: { origin: bare.url, method, requests: sized, headers: JSON_HEADERS } },
  ];
  if (name.startsWith(MCP_SEARCH)) {
    for (const [index, sdk] of sdks.entries()) {
      const headers = { ...JSON_HEADERS, ...sessions[index] };
      const load = { method, origin: sdk.url, headers, requests: requests.map((one) => ({ ...one, path: "/" })) };
      requireSameResults(answers, await readAnswers(load));
      candidates.push({ name: SDKS[index] ?? "", pid: sdk.pid, load });
    }
  }
  if (before !== undefined) candidates.push({ name: BEFORE, pid: before.pid, load: ask(before) });
  return candidates;
}

/** Servers that do not answer the same do not do the same. */
function requireSameResults(answers: readonly string[], others: readonly string[]): void {
  const results = (list: readonly string[]) => list.map((text) => (JSON.parse(text) as { result: unknown }).result);
  if (!isDeepStrictEqual(results(answers), results(others))) throw new Error("The SDK's server found something else.");
}

/** Greets the SDK's server; returns the headers of the session. */
async function openSession({ url }: Server): Promise<Record<string, string>> {
  const version = "2025-06-18";
  const clientInfo = { name: "bench", version: "1" };
  const params = { protocolVersion: version, capabilities: {}, clientInfo };
  const hello = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params });
  const reply = await request(url, { method: "POST", headers: JSON_HEADERS, body: hello });
  await reply.body.dump();
  const session = { "mcp-session-id": String(reply.headers["mcp-session-id"]), "mcp-protocol-version": version };
  const ready = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });
  const accepted = await request(url, { method: "POST", headers: { ...JSON_HEADERS, ...session }, body: ready });
  await accepted.body.dump();
  return session;
}
