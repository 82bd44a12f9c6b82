import { createHash } from "node:crypto";
import { MCP_VERSIONS } from "../../../../src/service/mcp/protocol.ts";
import { call, type Reply } from "../../../service/http-calls.ts";
import { postMcp, sendModern } from "../../../service/mcp/mcp-calls.ts";

/** The service and the key that asks. */
interface Target {
  readonly url: string;
  readonly apiKey: string;
}

/** What became of a call so far. */
export type Answer =
  /** The owner has to decide, or has decided and it runs. */
  | { readonly type: "held"; readonly id: string }
  | { readonly type: "ended"; readonly end: "succeeded" | "unknown" | "declined" | "void" }
  /** No answer: the service is away, or asks to come again. */
  | { readonly type: "lost" }
  | { readonly type: "surprise"; readonly text: string };

/** One way to ask for a write. Each says that it is confirmed. */
export interface Way {
  readonly name: string;
  /** True where a repeated request is known by its key after its end, too. */
  readonly isKeyed: boolean;
  ask(target: Target, line: string, key: string): Promise<Answer>;
  /** Looks at a held call. */
  read(target: Target, id: string): Promise<Answer>;
}

/** Seconds that one look waits. */
const WAIT_SECONDS = 2;
const lost: Answer = { type: "lost" };

function send({ url, apiKey }: Target, path: string, body: object, key?: string): Promise<Reply> {
  const headers = { "content-type": "application/json", ...(key !== undefined && { "idempotency-key": key }) };
  return call(`${url}${path}`, { method: "POST", key: apiKey, headers, body: JSON.stringify(body) });
}

/** Reads any answer of the service: an envelope, a summary, or the reply about an approval. */
async function judge(reply: Promise<{ status: number; body: unknown }>): Promise<Answer> {
  const got = await reply.catch(() => undefined);
  if (got?.body === undefined) return lost;
  const answer = judgeBody(got.body as Body);
  return got.status >= 500 && answer.type !== "ended" ? lost : answer;
}

interface Body {
  readonly approval?: { readonly id: string; readonly status: string } | undefined;
  readonly result?: Body | null;
  readonly error?: Body;
  readonly canonical?: Body;
  readonly ok?: boolean;
  readonly status?: string;
  readonly outcome_unknown?: boolean;
  readonly code?: string;
}

function judgeBody(body: Body): Answer {
  const approval = body.approval ?? body.error?.approval;
  const status = approval?.status;
  if (status === "declined" || status === "void") return { type: "ended", end: status };
  const result = body.result ?? body;
  if (result.ok === true || result.status === "succeeded") return { type: "ended", end: "succeeded" };
  if (result.outcome_unknown === true || result.canonical?.outcome_unknown === true)
    return { type: "ended", end: "unknown" };
  if (result.status === "running") return lost;
  if (approval !== undefined) return { type: "held", id: approval.id };
  return { type: "surprise", text: JSON.stringify(body).slice(0, 500) };
}

const http = (reply: Promise<Reply>) => judge(reply.then(({ status, json }) => ({ status, body: json })));

function readApproval({ url, apiKey }: Target, id: string): Promise<Answer> {
  return http(call(`${url}/api/approvals/${id}?wait=${WAIT_SECONDS}`, { key: apiKey }));
}

const byName = { isKeyed: true, read: readApproval };
const canonical = (line: string) => ({ integration_id: "tally", action_id: "write", input: { line }, confirm: true });

function uploadBody(line: string): object {
  const bytes = Buffer.from(`the file of ${line}`);
  const file = { name: "a.txt", mimetype: "text/plain" };
  const md5 = createHash("md5").update(bytes).digest("hex");
  return {
    arguments: { line, file: { ...file, s3key: "here" } },
    files: [{ ...file, pointer: "here", md5, dataBase64: bytes.toString("base64") }],
    confirmed: true,
  };
}

function mcpWay(version: string, isKeyed: boolean): Way {
  const run = (target: Target, name: string, args: object) => {
    const params = { name, arguments: args };
    const legacy = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
    const reply =
      version === MCP_VERSIONS[0]
        ? sendModern(target, "tools/call", params)
        : postMcp(target, legacy, { "mcp-protocol-version": version });
    return judge(reply.then(({ status, json }) => ({ status, body: json?.result?.structuredContent ?? json })));
  };
  return {
    name: `MCP ${version}${isKeyed ? "" : ", no key"}`,
    isKeyed,
    ask: (target, line, key) =>
      run(target, "svc.execute", { ...canonical(line), ...(isKeyed && { idempotency_key: key }) }),
    read: (target, id) => run(target, "svc.get_execution", { execution_id: id, wait: WAIT_SECONDS }),
  };
}

/** The canonical endpoint with a key. */
export const CANONICAL: Way = {
  name: "canonical",
  isKeyed: true,
  ask: (target, line, key) => http(send(target, "/api/executions", { ...canonical(line), idempotency_key: key })),
  read: readApproval,
};

/** Every endpoint that runs a tool, in every form it takes. */
export const WAYS: readonly Way[] = [
  {
    ...byName,
    name: "tool name",
    ask: (target, line, key) =>
      http(send(target, "/api/tools/tally_write/execute", { arguments: { line }, confirmed: true }, key)),
  },
  {
    ...byName,
    name: "tool name, loose arguments, no key",
    isKeyed: false,
    ask: (target, line) => http(send(target, "/api/tools/tally_write/execute", { line, confirmed: true })),
  },
  {
    ...byName,
    name: "tool name with a file",
    ask: (target, line, key) => http(send(target, "/api/tools/tally_upload/execute", uploadBody(line), key)),
  },
  CANONICAL,
  {
    ...CANONICAL,
    name: "canonical, no key",
    isKeyed: false,
    ask: (target, line) => http(send(target, "/api/executions", canonical(line))),
  },
  ...MCP_VERSIONS.map((version) => mcpWay(version, true)),
  mcpWay(MCP_VERSIONS[0], false),
];
