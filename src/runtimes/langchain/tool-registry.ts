import type { StructuredTool } from "@langchain/core/tools";
import { toJsonSchema } from "@langchain/core/utils/json_schema";
import { buildTools, carrySchema, projectEntry, type ToolDefinition } from "../../calls/build.ts";
import type { CatalogEntry } from "../../calls/catalog/catalog-entry.ts";
import type { ToolSession } from "../../calls/session.ts";
import { FLOW_TOOL_NAMES, STATIC_TOOL_NAMES, type StaticTool } from "../../calls/static-tools.ts";
import type { CallTranslator } from "./call-translator.ts";
import { type LangChainCall, SvcTool, type SvcToolFields } from "./svc-tool.ts";

const RESERVED_NAMES = [...STATIC_TOOL_NAMES, ...FLOW_TOOL_NAMES];

/** A toolkit's tools. Agents refuse a second object of the same name, so each tool is made once. */
export class ToolRegistry {
  readonly #session: ToolSession;
  readonly #caller: CallTranslator;
  readonly #tools = new Map<string, SvcTool>();

  constructor(session: ToolSession, caller: CallTranslator) {
    this.#session = session;
    this.#caller = caller;
  }

  /**
   * One tool per action, the same as before where there is one; with `isDeferred` marked for later loading.
   *
   * @throws SvcError `unsupported` when names collide
   */
  getActions(entries: readonly CatalogEntry[], isDeferred: boolean): SvcTool[] {
    const definitions = buildTools(entries, { profile: this.#session.profile, reserved: RESERVED_NAMES });
    return definitions.map((definition) => this.#getAction(definition, isDeferred));
  }

  /** A tool by its name for the model, once it was made. */
  find(name: string): SvcTool | undefined {
    return this.#tools.get(name);
  }

  /** A static tool; a function is asked for its description each time. */
  createStatic(tool: StaticTool, description: string | (() => string)): SvcTool {
    return this.#keep({
      name: tool.name,
      description,
      schema: toToolSchema(tool.schema),
      run: (call) => this.#caller.run(call, (base) => tool.run(call.arguments, base)),
      preview: (call) => this.#caller.preview(call, tool.readTarget(call.arguments)),
    });
  }

  #getAction({ name, description, toolName, integration, effect }: ToolDefinition, isDeferred: boolean): SvcTool {
    const known = this.#tools.get(name);
    if (known !== undefined && (known.extras !== undefined) === isDeferred) return known;
    const readTarget = (call: LangChainCall) => ({ toolName, arguments: call.arguments });
    return this.#keep({
      name,
      description,
      schema: createLiveSchema(this.#session, toolName),
      metadata: { toolName, integration, effect },
      ...(isDeferred ? { extras: { defer_loading: true } } : {}),
      run: (call) => this.#caller.run(call, (base) => this.#session.call({ ...base, ...readTarget(call) })),
      preview: (call) => this.#caller.preview(call, readTarget(call)),
    });
  }

  #keep(fields: SvcToolFields): SvcTool {
    const tool = new SvcTool(fields);
    this.#tools.set(fields.name, tool);
    return tool;
  }
}

/** The schema as it is known now, carried in one object as long as it stays the same: LangChain caches by object. */
function createLiveSchema(session: ToolSession, toolName: string): () => StructuredTool["schema"] {
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
function toToolSchema(schema: ToolDefinition["schema"]): StructuredTool["schema"] {
  return carrySchema(schema, toJsonSchema) as StructuredTool["schema"];
}
