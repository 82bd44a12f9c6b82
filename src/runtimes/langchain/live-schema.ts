import type { StructuredTool } from "@langchain/core/tools";
import { toJsonSchema } from "@langchain/core/utils/json_schema";
import type { ToolDefinition } from "../../calls/build.ts";
import { carrySchema, projectEntry } from "../../calls/catalog/project-entry.ts";

import type { ToolSession } from "../../calls/session.ts";

/** The schema as it is known now, carried in one object as long as it stays the same: LangChain caches by object. */
export function createLiveSchema(session: ToolSession, toolName: string): () => StructuredTool["schema"] {
  let shown: ToolDefinition["schema"] | undefined;
  let carried: StructuredTool["schema"] | undefined;
  return () => {
    const { schema } = projectEntry(session.catalog.peek(toolName) ?? { inputSchema: null }, session.profile);
    if (carried === undefined || shown !== schema) carried = toToolSchema(schema);
    shown = schema;
    return carried;
  };
}

/** LangChain names its own zod type here; any zod schema or JSON Schema is taken. */
export function toToolSchema(schema: ToolDefinition["schema"]): StructuredTool["schema"] {
  return carrySchema(schema, toJsonSchema) as StructuredTool["schema"];
}
