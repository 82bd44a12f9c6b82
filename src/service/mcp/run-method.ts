import { isRecord } from "../../base/json.ts";
import { checkStrictly } from "../../schema/check/check-strictly.ts";
import type { CheckedRequest } from "./answer-request.ts";
import type { McpCall, McpFeatures, McpPrompt, McpResource, McpResult, McpTool } from "./mcp-features.ts";
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
  readonly serverInfo: Readonly<Record<string, unknown>>;
  readonly instructions: string;
}

/** Lists change only with the service; they depend on who asks, so nobody may share them. */
const CACHE = { ttlMs: 300_000, cacheScope: "private" } as const;

/**
 * Runs one method.
 *
 * @throws RpcError -32601 for a method this revision does not have, -32602 for wrong `params`.
 */
export async function runMethod(parts: MethodParts, message: RpcMessage, request: CheckedRequest): Promise<McpResult> {
  const { features } = parts;
  const { method, params } = message;
  const isLegacy = request.era === "legacy";
  const cache = isLegacy ? {} : CACHE;
  switch (method) {
    case "tools/list":
      checkCursor(params);
      return { tools: features.tools.map(describeTool), ...cache };
    case "tools/call":
      return callTool(features.tools, params, openCall(parts, message, request));
    case "prompts/list":
      checkCursor(params);
      return { prompts: features.prompts.map(describePrompt), ...cache };
    case "prompts/get":
      return getPrompt(parts, message, request);
    case "resources/list":
      checkCursor(params);
      return { resources: features.resources.map(describeResource), ...cache };
    case "resources/templates/list":
      checkCursor(params);
      return { resourceTemplates: (features.resourceTemplates ?? []).map(({ read: _read, ...t }) => t), ...cache };
    case "resources/read":
      return { ...readResource(features, params, isLegacy), ...cache };
    default:
      return runOther(parts, message, request.era);
  }
}

/** A tool as lists show it. */
export function describeTool({ call: _call, aliases: _aliases, ...tool }: McpTool): McpResult {
  return tool;
}

/** A prompt as lists show it. */
export function describePrompt({ get: _get, ...prompt }: McpPrompt): McpResult {
  return prompt;
}

/** A resource as lists show it. */
export function describeResource({ read: _read, ...resource }: McpResource): McpResult {
  return resource;
}

function runOther(parts: MethodParts, { method, params }: RpcMessage, era: McpEra): McpResult {
  const { features, serverInfo, instructions } = parts;
  const isLegacy = era === "legacy";
  const more = features.more?.[era];
  const capabilities = { tools: {}, prompts: {}, resources: {}, ...more?.capabilities };
  if (method === "server/discover" && !isLegacy) {
    return { supportedVersions: MCP_VERSIONS, capabilities, instructions, ...CACHE };
  }
  if (method === "initialize" && isLegacy) {
    const wanted = params.protocolVersion;
    const protocolVersion = typeof wanted === "string" && isLegacyVersion(wanted) ? wanted : LEGACY_VERSIONS[0];
    return { protocolVersion, capabilities, serverInfo, instructions };
  }
  if (method === "ping" && isLegacy) return {};
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

/** Every list fits on one page, so no cursor was ever handed out. */
function checkCursor({ cursor }: RpcMessage["params"]): void {
  if (cursor !== undefined) throw invalidParams("`params.cursor` is unknown: every list fits on one page.");
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
