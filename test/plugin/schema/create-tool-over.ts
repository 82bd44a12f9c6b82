import { createOutcome } from "../../../src/plugin/calls/outcome.ts";
import { SvcTool } from "../../../src/plugin/runtimes/langchain/svc-tool.ts";
import type { JsonSchema } from "../../../src/shared/schema-check/json-schema.ts";

/** A LangChain tool that shows a schema the way the toolkit's tools do, and answers with its arguments. */
export function createToolOver({ name, schema }: { readonly name: string; readonly schema: JsonSchema }): SvcTool {
  return new SvcTool({
    name,
    description: "A tool.",
    schema,
    run: async (call) => createOutcome("succeeded", name, { result: call.arguments }),
  });
}
