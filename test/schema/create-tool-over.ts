import type { StructuredTool } from "@langchain/core/tools";
import { toJsonSchema } from "@langchain/core/utils/json_schema";
import { carrySchema } from "../../src/calls/build.ts";
import { createOutcome } from "../../src/calls/outcome.ts";
import { SvcTool } from "../../src/runtimes/langchain/svc-tool.ts";
import type { JsonSchema } from "../../src/schema/json-schema.ts";

/** A LangChain tool that carries a schema the way the toolkit's tools do, and answers with its arguments. */
export function createToolOver({ name, schema }: { readonly name: string; readonly schema: JsonSchema }): SvcTool {
  return new SvcTool({
    name,
    description: "A tool.",
    schema: carrySchema(schema, toJsonSchema) as StructuredTool["schema"],
    run: async (call) => createOutcome("succeeded", name, { result: call.arguments }),
  });
}
