import { keepWithin } from "../../../shared/base/tool-budget.ts";
import type { JsonSchema } from "../../../shared/wire/tool.ts";
import { buildTools, type ToolDefinition } from "../../calls/build.ts";
import type { CatalogEntry } from "../../calls/catalog/catalog-entry.ts";
import { projectEntry } from "../../calls/projection.ts";
import type { ToolSession } from "../../calls/session.ts";
import { CHANGING_TOOL_NAMES, FLOW_TOOL_NAMES, STATIC_TOOL_NAMES, type StaticTool } from "../../calls/static-tools.ts";
import type { CallTranslator, RunCall } from "./call-translator.ts";
import { type LangChainCall, SvcTool, type SvcToolFields } from "./svc-tool.ts";

const RESERVED_NAMES = [...STATIC_TOOL_NAMES, ...FLOW_TOOL_NAMES];
const ACTING: ReadonlySet<string> = new Set(CHANGING_TOOL_NAMES);

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
    return this.#build(entries).map((definition) => this.#getAction(definition, isDeferred));
  }

  /** The actions, if a model reads all their tools within a budget of tokens, and else none. */
  keepWithin(entries: readonly CatalogEntry[], tokens: number | undefined): readonly CatalogEntry[] {
    return tokens === undefined || keepWithin(this.#build(entries), tokens).length > 0 ? entries : [];
  }

  #build(entries: readonly CatalogEntry[]): ToolDefinition[] {
    return buildTools(entries, { profile: this.#session.profile, reserved: RESERVED_NAMES });
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
      schema: tool.schema,
      run: (call) => {
        const target = tool.readTarget(call.arguments);
        const isRead = target === undefined ? !ACTING.has(tool.name) : this.#isRead(target.toolName);
        return this.#caller.run(call, (base) => tool.run(call.arguments, base), isRead);
      },
      preview: async (call, ask) => {
        const target = tool.readTarget(call.arguments);
        if (target !== undefined) await this.#caller.preview(call, target, ask);
      },
    });
  }

  #isRead(toolName: string): boolean {
    const entry = this.#session.catalog.peek(toolName);
    return entry?.effect === "read" && entry.needsConfirmation !== true;
  }

  #getAction({ name, description, toolName, integration, effect }: ToolDefinition, isDeferred: boolean): SvcTool {
    const known = this.#tools.get(name);
    if (known !== undefined && (known.extras !== undefined) === isDeferred) return known;
    // Said once: what a repeated call does first must not change.
    const isRead = this.#isRead(toolName);
    const readTarget = (call: LangChainCall) => ({ toolName, arguments: call.arguments });
    return this.#keep({
      name,
      description,
      schema: createLiveSchema(this.#session, toolName),
      metadata: { toolName, integration, effect },
      ...(isDeferred ? { extras: { defer_loading: true } } : {}),
      run: (call) => {
        const run: RunCall = (base) => this.#session.call({ ...base, ...readTarget(call) });
        return this.#caller.run(call, run, isRead);
      },
      preview: (call, ask) => this.#caller.preview(call, readTarget(call), ask),
    });
  }

  #keep(fields: SvcToolFields): SvcTool {
    const tool = new SvcTool(fields);
    this.#tools.set(fields.name, tool);
    return tool;
  }
}

/** The schema as it is known now, one object while it stays the same. It is LangChain's own: providers change it. */
function createLiveSchema(session: ToolSession, toolName: string): () => JsonSchema {
  let described: CatalogEntry | undefined;
  let shown: string | undefined;
  let schema: JsonSchema = {};
  return () => {
    const entry = session.catalog.peek(toolName);
    // LangChain asks several times in a row.
    if (entry !== undefined && entry === described) return schema;
    const { text } = projectEntry(entry ?? { inputSchema: null }, session.profile);
    if (shown !== text) schema = JSON.parse(text);
    described = entry;
    shown = text;
    return schema;
  };
}
