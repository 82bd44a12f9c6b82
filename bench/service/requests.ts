import { request } from "undici";
import type { ServiceProcess } from "../processes/start-service.ts";
import { type Load, type LoadRequest, NUMBER } from "./load.ts";

/** What agents ask for, each in turn, so that no server can live from the answer to one question. No word has digits. */
const QUERIES = [
  "unread mail",
  "send a message",
  "list files",
  "upload a file",
  "create a note",
  "search my notes",
  "reply to an email",
  "delete file",
  "move to another folder",
  "mark as read",
  "find a page",
  "append text to a note",
  "save an attachment",
  "new folder",
  "draft an answer",
  "rename a document",
  "download the report",
  "archive old mail",
  "meeting notes of last week",
  "forward this to a colleague",
  "read file",
  "who wrote to me today",
  "drive_upload_file",
  "write down an idea",
] as const;

/** A kind of request that agents make. */
export interface LoadKind extends Pick<Load, "method" | "requests"> {
  readonly name: string;
  /** Least share of the bare handler's requests, where there is a target. */
  readonly target?: number;
  /** How many times the requests of the version before (`--before`) are wanted. */
  readonly gain?: number;
}

/** Every kind of request that is measured. */
export async function listKinds(service: ServiceProcess): Promise<LoadKind[]> {
  const canonical = { integration_id: "drive", action_id: await findActionId(service), input: {} };
  const numbered = QUERIES.map((query) => `${query} ${NUMBER}`);
  const get = (path: string): LoadRequest[] => [{ path }];
  const post = (path: string, body: object): LoadRequest[] => [{ path, body: JSON.stringify(body) }];
  return [
    { name: "GET /api/tools", method: "GET", requests: get("/api/tools"), target: 0.4 },
    {
      name: "GET /api/tools/search",
      method: "GET",
      requests: QUERIES.flatMap((query) => get(searchPath(query))),
      target: 0.4,
    },
    {
      name: "GET /api/tools/search, each question new",
      method: "GET",
      requests: numbered.flatMap((query) => get(searchPath(query))),
    },
    { name: "GET /api/tools/{name}", method: "GET", requests: get("/api/tools/drive_upload_file"), target: 0.4 },
    {
      name: "execute a read",
      method: "POST",
      requests: post("/api/tools/drive_list_files/execute", { arguments: {} }),
      gain: 5,
    },
    { name: "execute a read, canonical", method: "POST", requests: post("/api/executions", canonical), gain: 5 },
    { name: MCP_SEARCH, method: "POST", requests: QUERIES.flatMap((query) => post("/api/mcp", callSearch(query))) },
    {
      name: `${MCP_SEARCH}, each question new`,
      method: "POST",
      requests: numbered.flatMap((query) => post("/api/mcp", callSearch(query))),
    },
  ];
}

/** Names of the kinds that are compared with the official SDK too begin so. */
export const MCP_SEARCH = "MCP tools/call of svc.search";

function searchPath(query: string): string {
  return `/api/tools/search?query=${encodeURIComponent(query).replace(encodeURIComponent(NUMBER), NUMBER)}`;
}

function callSearch(query: string) {
  return { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "svc.search", arguments: { query } } };
}

async function findActionId({ url, apiKey }: ServiceProcess): Promise<string> {
  const reply = await request(`${url}/api/tools/drive_list_files`, { headers: { "x-svc-api-key": apiKey } });
  const { tool } = (await reply.body.json()) as { tool: { canonical: { action: { action_id: string } } } };
  return tool.canonical.action.action_id;
}

/** The answers to a load, each once. */
export async function readAnswers({ origin, method, headers, requests }: Load): Promise<string[]> {
  const answers: string[] = [];
  for (const { path, body = null } of requests) {
    const reply = await request(`${origin}${path}`, { method, headers, body });
    const text = await reply.body.text();
    if (reply.statusCode !== 200)
      throw new Error(`${method} ${path} answered ${reply.statusCode}: ${text.slice(0, 300)}`);
    answers.push(text);
  }
  return answers;
}
