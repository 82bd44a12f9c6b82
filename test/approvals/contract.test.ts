import { describeDoor } from "./contract.ts";
import { AI_SDK } from "./doors/ai-sdk.ts";
import { LANGCHAIN, LANGCHAIN_MIDDLEWARE } from "./doors/langchain.ts";
import { LIBRARY } from "./doors/library.ts";
import { OPENAI_AGENTS } from "./doors/openai-agents.ts";

for (const door of [LIBRARY, LANGCHAIN, LANGCHAIN_MIDDLEWARE, AI_SDK, OPENAI_AGENTS]) describeDoor(door);
