import type { Door } from "./door.ts";
import { AI_SDK } from "./doors/ai-sdk.ts";
import { INBOX } from "./doors/inbox.ts";
import { LANGCHAIN, LANGCHAIN_MIDDLEWARE, TOOL_NODE } from "./doors/langchain.ts";
import { LIBRARY } from "./doors/library.ts";
import { MCP } from "./doors/mcp.ts";
import { OPENAI_AGENTS } from "./doors/openai-agents.ts";
import { OPENCLAW } from "./doors/openclaw.ts";
import { SERVICE_MCP } from "./doors/service-mcp.ts";
import { TERMINAL } from "./doors/terminal.ts";

const ALL: readonly Door[] = [
  LIBRARY,
  LANGCHAIN,
  LANGCHAIN_MIDDLEWARE,
  TOOL_NODE,
  AI_SDK,
  OPENAI_AGENTS,
  MCP,
  OPENCLAW,
  TERMINAL,
  INBOX,
  SERVICE_MCP,
];

/** True with `SVC_TEST_DOORS=peers`: what loads no peer is the same with all versions of them, and left out. */
export const ONLY_PEERS = process.env.SVC_TEST_DOORS === "peers";

/** Every way from a model to a human. */
export const DOORS = ONLY_PEERS ? ALL.filter(({ hasPeer }) => hasPeer) : ALL;

export function findDoor(name: string): Door {
  const door = DOORS.find((one) => one.name === name);
  if (door === undefined) throw new Error(`There is no door ${name}.`);
  return door;
}
