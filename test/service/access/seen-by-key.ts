import { call } from "../http-calls.ts";
import { callTool, type McpTarget, postMcp, sendModern } from "../mcp/mcp-calls.ts";

/** The answer of one endpoint that lists or describes something: the tools it names, and its whole text. */
export interface Seen {
  readonly place: string;
  /** Full tool names; undefined where the endpoint names none. */
  readonly tools?: readonly string[];
  readonly text: string;
}

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
type Json = any;

/** Query of the endpoint by which it lists every action as a tool. */
const EVERY_ACTION = "?maxToolTokens=10000000";
const WORDS = ["send", "mail delete", "things"];

/** Asks every endpoint that lists or describes tools, apps and accounts, about everything in `asked`. */
export async function listSeen(
  target: McpTarget,
  asked: { readonly apps: readonly string[]; readonly tools: readonly string[] },
): Promise<Seen[]> {
  const seen: Seen[] = [];
  const get = async (path: string, readTools?: (json: Json) => string[]) => {
    const { json, text } = await call(`${target.url}${path}`, { key: target.apiKey });
    seen.push({ place: `GET ${path}`, text, ...(readTools && { tools: readTools(json) }) });
  };
  const mcp = async (name: string, args: object, readTools?: (json: Json) => string[]) => {
    const legacy = await callTool(target, name, args);
    const { json } = await sendModern(target, "tools/call", { name, arguments: args });
    for (const [era, result] of [
      ["legacy", legacy],
      ["modern", json.result],
    ]) {
      const tools = readTools?.(result.structuredContent);
      seen.push({
        place: `${era} ${name} ${JSON.stringify(args)}`,
        text: JSON.stringify(result),
        ...(tools && { tools }),
      });
    }
  };
  const ofTools = ({ tools = [] }: Json) => tools.flatMap(({ name }: Json) => name ?? []);
  const ofItems = ({ items = [], integration_id }: Json) =>
    items.flatMap((item: Json) =>
      item.action_id ? [`${item.integration_id ?? integration_id}_${item.action_id}`] : [],
    );
  const ofApps = ({ items = [] }: Json) =>
    items.flatMap((item: Json) => item.capabilities.map((id: string) => `${item.integration_id}_${id}`));

  await get("/api/tools?limit=200", ofTools);
  await get("/api/integrations?page_size=100", ofApps);
  await get("/api/integrations?connected_only=true", ofApps);
  await get("/api/flows/templates");
  await get("/api/approvals");
  const listed = await postMcp(target, { jsonrpc: "2.0", id: 1, method: "tools/list" }, {}, EVERY_ACTION);
  const actions = ofTools(listed.json.result).filter((name: string) => !name.startsWith("svc."));
  seen.push({ place: "tools/list with all actions", text: listed.text, tools: actions });
  await mcp("svc.whoami", {});
  await mcp("svc.list_integrations", { page_size: 100 }, ofApps);
  for (const word of WORDS) {
    await get(`/api/tools/search?limit=200&query=${word}`, ofTools);
    await get(`/api/search?limit=100&query=${word}`, ofItems);
    await get(`/api/integrations?query=${word}`, ofApps);
    await mcp("svc.search", { query: word, limit: 100 }, ofItems);
  }
  for (const app of asked.apps) {
    await get(`/api/tools?integration=${app}&limit=200`, ofTools);
    await get(`/api/actions?integration_id=${app}&intent=send`, ofItems);
    await get(`/api/integrations?supports_action=send&query=${app}`, ofApps);
    await mcp("svc.list_actions", { integration_id: app }, ofItems);
    await mcp("svc.get_integration", { integration_id: app });
    await mcp("svc.get_connection", { integration_id: app });
    await mcp("svc.connect_app", { integration_id: app });
    for (const tool of asked.tools.filter((_tool, index) => index % 3 === 0)) {
      await get(`/api/actions/${app}/${tool}`);
      await mcp("svc.get_action", { integration_id: app, action_id: tool });
    }
  }
  for (const tool of asked.tools) {
    await get(`/api/tools/${tool}`);
    await get(`/api/tools/${tool.slice(0, -1)}`);
  }
  return seen;
}

/** Sends one call as a client does whose human says yes in its form. */
async function sendApproved(target: McpTarget, params: object) {
  const asks = { ...params, capabilities: { elicitation: { form: {} } } };
  const asked = await sendModern(target, "tools/call", asks);
  const requestState = asked.json.result?.requestState;
  if (requestState === undefined) return asked;
  const inputResponses = { approval: { action: "accept", content: { approve: true } } };
  return sendModern(target, "tools/call", { ...asks, requestState, inputResponses });
}

/** Sends one call by every endpoint that runs tools, confirmed or approved as it asks for. */
export async function runEverywhere(
  target: McpTarget,
  o: { readonly app: string; readonly action: string; readonly toolName: string; readonly connection?: string },
): Promise<{ readonly place: string; readonly text: string }[]> {
  const { app, action, toolName, connection } = o;
  const json = { "content-type": "application/json" };
  const post = (path: string, body: object) =>
    call(`${target.url}${path}`, { method: "POST", key: target.apiKey, headers: json, body: JSON.stringify(body) });
  const canonical = { integration_id: app, action_id: action, input: {}, confirm: true };
  const answers = [
    await post(`/api/tools/${encodeURIComponent(toolName)}/execute`, {
      arguments: {},
      confirmed: true,
      ...(connection !== undefined && { connectionId: connection }),
    }),
    await post("/api/executions", { ...canonical, ...(connection !== undefined && { connection_id: connection }) }),
    await postMcp(target, {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "svc.execute", arguments: canonical },
    }),
    await sendApproved(target, { name: "svc_execute", arguments: canonical }),
    await postMcp(
      target,
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: toolName, arguments: {} } },
      {},
      EVERY_ACTION,
    ),
  ];
  const places = ["by name", "canonical", "legacy", "modern", "as a tool"];
  return answers.map(({ text }, index) => ({ place: places[index] ?? "", text }));
}
