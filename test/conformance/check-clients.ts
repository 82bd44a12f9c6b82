import assert from "node:assert/strict";
import { MultiServerMCPClient } from "@langchain/mcp-adapters";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FirstTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { MCP_TOOL_NAMES } from "../../src/shared/wire/mcp.ts";
import { runStep, type StepResult } from "./step.ts";

/** A service with nothing but its own tools. */
interface Target {
  readonly url: string;
  readonly apiKey: string;
}

const IDENTITY = { name: "svc-conformance", version: "1.0.0" };
const SEARCH = { name: "svc.search", arguments: { query: "send a message" } };
const names = (tools: readonly { name: string }[]) => tools.map((tool) => tool.name).sort();
const EXPECTED = [...MCP_TOOL_NAMES].sort();

/** Each client lists the tools and completes a call. */
export async function checkClients(target: Target): Promise<StepResult[]> {
  return [
    await runStep("official client 2, modern", () => useClient(target, "auto")),
    await runStep("official client 2, legacy", () => useClient(target, "legacy")),
    await runStep("official client 1", () => useFirstClient(target)),
    await runStep("@langchain/mcp-adapters", () => useAdapters(target)),
  ];
}

async function useClient(target: Target, mode: "auto" | "legacy"): Promise<string> {
  const client = new Client(IDENTITY, { versionNegotiation: { mode } });
  const requestInit = { headers: { "x-svc-api-key": target.apiKey } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${target.url}/api/mcp`), { requestInit }));
  try {
    const { tools } = await client.listTools();
    assert.deepEqual(names(tools), EXPECTED);
    const { structuredContent } = await client.callTool(SEARCH);
    assert.match(JSON.stringify(structuredContent), /send_message/);
    return `${tools.length} tools listed, one called, ${client.getNegotiatedProtocolVersion()}`;
  } finally {
    await client.close();
  }
}

async function useFirstClient(target: Target): Promise<string> {
  const client = new FirstClient(IDENTITY);
  const requestInit = { headers: { Authorization: `Bearer ${target.apiKey}` } };
  const transport = new FirstTransport(new URL(`${target.url}/api/mcp`), { requestInit });
  // Its transport type and its client type differ under exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<FirstClient["connect"]>[0]);
  try {
    const { tools } = await client.listTools();
    assert.deepEqual(names(tools), EXPECTED);
    const { structuredContent } = await client.callTool(SEARCH);
    assert.match(JSON.stringify(structuredContent), /send_message/);
    return `${tools.length} tools listed, one called, ${transport.protocolVersion}`;
  } finally {
    await client.close();
  }
}

async function useAdapters(target: Target): Promise<string> {
  const client = new MultiServerMCPClient({
    throwOnLoadError: true,
    mcpServers: {
      svc: {
        transport: "http",
        url: `${target.url}/api/mcp`,
        headers: { "x-svc-api-key": target.apiKey },
        automaticSSEFallback: false,
      },
    },
  });
  try {
    const tools = await client.getTools();
    assert.deepEqual(names(tools), EXPECTED);
    const search = tools.find((tool) => tool.name === SEARCH.name);
    assert.match(JSON.stringify(await search?.invoke(SEARCH.arguments)), /send_message/);
    return `${tools.length} tools listed, one called`;
  } finally {
    await client.close();
  }
}
