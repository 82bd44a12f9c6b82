import type { Door } from "./door.ts";

/** Loads every way from a model to a human, by its name. */
export const LOADERS: Readonly<Record<string, () => Promise<Door>>> = {
  library: async () => (await import("./doors/library.ts")).LIBRARY,
  LangChain: async () => (await import("./doors/langchain.ts")).LANGCHAIN,
  "LangChain with the approval middleware": async () => (await import("./doors/langchain.ts")).LANGCHAIN_MIDDLEWARE,
  "ToolNode of LangGraph": async () => (await import("./doors/langchain.ts")).TOOL_NODE,
  "AI SDK": async () => (await import("./doors/ai-sdk.ts")).AI_SDK,
  "OpenAI Agents SDK": async () => (await import("./doors/openai-agents.ts")).OPENAI_AGENTS,
  "svc mcp": async () => (await import("./doors/mcp.ts")).MCP,
  OpenClaw: async () => (await import("./doors/openclaw.ts")).OPENCLAW,
  terminal: async () => (await import("./doors/terminal.ts")).TERMINAL,
  inbox: async () => (await import("./doors/inbox.ts")).INBOX,
  "/api/mcp": async () => (await import("./doors/service-mcp.ts")).SERVICE_MCP,
};

/** A door without all others: a process that needs one starts in a third of the time. */
export async function findDoor(name: string): Promise<Door> {
  const door = await LOADERS[name]?.();
  if (door?.name !== name) throw new Error(`There is no door ${name}.`);
  return door;
}
