import type { Door } from "./door.ts";
import { AI_SDK } from "./doors/ai-sdk.ts";
import { LANGCHAIN, LANGCHAIN_MIDDLEWARE } from "./doors/langchain.ts";
import { LIBRARY } from "./doors/library.ts";
import { MCP } from "./doors/mcp.ts";
import { OPENAI_AGENTS } from "./doors/openai-agents.ts";
import { OPENCLAW } from "./doors/openclaw.ts";

export const DOORS: readonly Door[] = [LIBRARY, LANGCHAIN, LANGCHAIN_MIDDLEWARE, AI_SDK, OPENAI_AGENTS, MCP, OPENCLAW];

export function findDoor(name: string): Door {
  const door = DOORS.find((one) => one.name === name);
  if (door === undefined) throw new Error(`There is no door ${name}.`);
  return door;
}
