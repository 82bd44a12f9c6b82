import { isRecord } from "../../shared/base/json.ts";
import { checkStrictly } from "../../shared/schema-check/check-strictly.ts";
import { findSkill, SKILLS_EXTENSION } from "../../shared/wire/mcp-skill.ts";
import { type CheckedRequest, type ResultStamp, ResultText } from "./answer-request.ts";
import type { McpCall, McpFeatures, McpResult, McpTool } from "./mcp-features.ts";
import { type CallParts, openCall } from "./open-call.ts";
import {
  invalidParams,
  isLegacyVersion,
  LEGACY_VERSIONS,
  MCP_VERSIONS,
  type McpEra,
  RPC_CODES,
  RpcError,
  type RpcMessage,
} from "./protocol.ts";

import { problemResult } from "./tools/tool-results.ts";

interface MethodParts extends CallParts {
  readonly features: McpFeatures;
  readonly lists: ReturnType<typeof writeLists>;
  readonly serverInfo: Readonly<Record<string, unknown>>;
  readonly instructions: string;
  /** Tools for actions, where the client wants them. */
  listActions(): Promise<readonly McpTool[]>;
}

/** Lists change only with the service; they depend on who asks, so nobody may share them. */
const CACHE = { ttlMs: 300_000, cacheScope: "private" } as const;

/**
 * Runs one method.
 *
 * @throws RpcError -32601 for a method this revision does not have, -32602 for wrong `params`.
 */
export async function runMethod(
  parts: MethodParts,
  message: RpcMessage,
  request: CheckedRequest,
): Promise<McpResult | ResultText> {
  const { features } = parts;
  const { method, params } = message;
  const isLegacy = request.era === "legacy";
  const list = parts.lists[request.era].get(method);
  if (list !== undefined) {
    if (params.cursor !== undefined) throw invalidParams("`params.cursor` is unknown: every list fits on one page.");
    const actions = method === "tools/list" ? await parts.listActions() : [];
    if (actions.length === 0) return list;
    return { tools: [...features.tools, ...actions].map(describeTool), ...(isLegacy ? {} : CACHE) };
  }
  switch (method) {
    case "tools/call":
      return callTool([...features.tools, ...(await parts.listActions())], params, openCall(parts, message, request));
    case "prompts/get":
      return getPrompt(parts, message, request);
    case "resources/read":
      return { ...readResource(features, params, isLegacy), ...(isLegacy ? {} : CACHE) };
    default:
      return runOther(parts, message, request.era);
  }
}

/** Features as lists show them, without their code. */
export function describeFeatures({ tools, prompts, resources, resourceTemplates = [] }: McpFeatures) {
  return {
    tools: tools.map(describeTool),
    prompts: prompts.map(({ get: _get, ...prompt }): McpResult => prompt),
    resources: resources.map(({ read: _read, ...resource }): McpResult => resource),
    resourceTemplates: resourceTemplates.map(({ read: _read, ...template }): McpResult => template),
  };
}

function describeTool({ call: _call, aliases: _aliases, checksItself: _checks, ...tool }: McpTool): McpResult {
  return tool;
}

/** Methods that list, and the member of their result. */
const LISTS: ReadonlyMap<string, keyof ReturnType<typeof describeFeatures>> = new Map([
  ["tools/list", "tools"],
  ["prompts/list", "prompts"],
  ["resources/list", "resources"],
  ["resources/templates/list", "resourceTemplates"],
]);

/** The results of the methods that list, by method. */
export function writeLists(features: McpFeatures, serverInfo: ResultStamp["serverInfo"]) {
  const described = describeFeatures(features);
  const write = (era: McpEra): ReadonlyMap<string, ResultText> => {
    const cache = era === "legacy" ? {} : CACHE;
    const results = [...LISTS].map(([method, list]) => [method, { [list]: described[list], ...cache }] as const);
    return new Map(results.map(([method, result]) => [method, new ResultText(result, { era, serverInfo })]));
  };
  return { legacy: write("legacy"), modern: write("modern") };
}

function runOther(parts: MethodParts, { method, params }: RpcMessage, era: McpEra): McpResult {
  const { features, serverInfo, instructions } = parts;
  const isLegacy = era === "legacy";
  const more = features.more?.[era];
  const extensions = { [SKILLS_EXTENSION]: {} };
  const capabilities = { tools: {}, prompts: {}, resources: {}, extensions, ...more?.capabilities };
  if (method === "server/discover" && !isLegacy) {
    return { supportedVersions: MCP_VERSIONS, capabilities, instructions, ...CACHE };
  }
  if (method === "initialize" && isLegacy) {
    const wanted = params.protocolVersion;
    const protocolVersion = typeof wanted === "string" && isLegacyVersion(wanted) ? wanted : LEGACY_VERSIONS[0];
    return { protocolVersion, capabilities, serverInfo, instructions };
  }
  if (method === "ping" && isLegacy) return {};
  const { skills = [] } = features;
  // The extension asks for these members in every revision.
  const stamp = { resultType: "complete", ...CACHE };
  if (method === "skills/list") return { ...stamp, skills: skills.map(({ entry }) => entry) };
  if (method === "skills/get") {
    const skill = findSkill(skills, params.uri);
    if (skill !== undefined) return { ...stamp, skill };
    throw invalidParams("`params.uri` is not the address of a skill of this server.");
  }
  const extra = more?.methods[method];
  if (extra !== undefined) return extra(params);
  throw new RpcError(RPC_CODES.methodNotFound, `There is no method "${method}".`, { method });
}

function getPrompt(parts: MethodParts, message: RpcMessage, request: CheckedRequest): McpResult {
  const { name, arguments: given = {} } = message.params;
  const prompt = parts.features.prompts.find((known) => known.name === name);
  if (prompt === undefined) throw invalidParams(`There is no prompt ${JSON.stringify(name)}.`);
  if (!isRecord(given)) throw invalidParams("`params.arguments` must be an object.");
  const args: Record<string, string> = {};
  for (const { name: argument, required } of prompt.arguments ?? []) {
    const value = given[argument];
    if (typeof value === "string") args[argument] = value;
    else if (value !== undefined) throw invalidParams(`The prompt argument "${argument}" must be a string.`);
    else if (required) throw invalidParams(`The prompt argument "${argument}" is required.`);
  }
  return prompt.get(args, openCall(parts, message, request));
}

function readResource(features: McpFeatures, { uri }: RpcMessage["params"], isLegacy: boolean): McpResult {
  if (typeof uri !== "string") throw invalidParams("`params.uri` is required and must be a string.");
  const resource = features.resources.find((known) => known.uri === uri);
  if (resource !== undefined) return { contents: [{ uri, mimeType: resource.mimeType, ...resource.read() }] };
  for (const template of features.resourceTemplates ?? []) {
    const found = template.read(uri);
    if (found !== undefined) return { contents: [{ uri, mimeType: template.mimeType, ...found }] };
  }
  const code = isLegacy ? RPC_CODES.resourceNotFound : RPC_CODES.invalidParams;
  throw new RpcError(code, "There is no such resource.", { uri });
}

/**
 * `tools/call`. Arguments that do not match are a result with `isError`, which a model can read and correct; it names up to
 * 100 problems.
 *
 * @throws RpcError -32602 for an unknown tool or arguments that are no object.
 */
export async function callTool(
  tools: readonly McpTool[],
  { name, arguments: args = {} }: RpcMessage["params"],
  call: McpCall,
): Promise<McpResult> {
  const tool = tools.find((known) => known.name === name || known.aliases?.some((alias) => alias === name));
  if (tool === undefined) throw invalidParams(`There is no tool ${JSON.stringify(name)}; tools/list shows all.`);
  if (!isRecord(args)) throw invalidParams("`params.arguments` must be an object.");
  if (tool.checksItself === true) return tool.call(args, call);
  const verdict = checkStrictly(tool.inputSchema, args, { isWhole: true });
  if (verdict.kind === "valid") return tool.call(args, call);
  const problems =
    verdict.kind === "invalid"
      ? verdict.problems.map(({ message }) => message)
      : [`${verdict.field || "arguments"}: ${verdict.why}`];
  return problemResult({
    error_code: "validation_error",
    message: problems[0] ?? "The arguments are not valid.",
    hint: `Correct the arguments of ${tool.name} and call it again; tools/list shows its input schema.`,
    details: problems,
  });
}
