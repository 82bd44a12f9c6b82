import { setTimeout as delay } from "node:timers/promises";
import { BaseToolkit, type StructuredTool, type ToolRunnableConfig } from "@langchain/core/tools";
import { toJsonSchema } from "@langchain/core/utils/json_schema";
import type { Approver } from "../../approvals/request.ts";
import { FLOW_TOOL_NAMES, type FlowTool } from "../../flows/flow-tool.ts";
import { createFlowTools } from "../../flows/flow-tools.ts";
import { buildTools, type ToolDefinition } from "../../tools/build.ts";
import { carrySchema } from "../../tools/carry-schema.ts";
import type { CatalogEntry } from "../../tools/catalog-entry.ts";
import { projectEntry } from "../../tools/project-entry.ts";
import { createToolSession, type ToolSession, type ToolSessionOptions } from "../../tools/session.ts";
import type { SessionEvent } from "../../tools/session-events.ts";
import { STATIC_TOOL_NAMES, type StaticTool } from "../../tools/static-tools.ts";
import { CallTranslator } from "./call-translator.ts";
import type { GraphConfig } from "./graph-config.ts";
import { ProgressFeed } from "./progress.ts";
import { type LangChainCall, SvcTool } from "./svc-tool.ts";
import type { TaskDesk } from "./task-desk.ts";

/** Most action tools that are described when the toolkit is made, and returned without a `limit`. */
const DEFAULT_LIMIT = 64;
/** Model providers take 128 tools: these and the static ones. */
const MAX_LIMIT = 117;
const MAX_DEFERRED = 10_000;
const PARALLEL = 8;
const FLOW_APPROVAL_MS = 10 * 60 * 1_000;
const RESERVED_NAMES = [...STATIC_TOOL_NAMES, ...FLOW_TOOL_NAMES];

/** Settings of {@link SvcToolkit.create}: those of a session, and which tools to make ready. */
export type SvcToolkitOptions = ToolSessionOptions & {
  /** Only tools of these apps are listed and described. Default: all. */
  readonly integrations?: readonly string[] | undefined;
  /** How many tools to describe ahead, 0 to 117. Default 64; the others are reached through svc_call_tool. */
  readonly describeAhead?: number | undefined;
  /**
   * Who is asked inside a LangGraph run that can be resumed. `interrupt`, the default: the graph stops with the question
   * and is resumed with the answer. `callback`: `approve` and `chooseConnection`, as everywhere else.
   */
  readonly askThrough?: "interrupt" | "callback" | undefined;
  /** Milliseconds an interrupt may wait for its answer, at most 24 days. Default 7 days. */
  readonly interruptTtlMs?: number | undefined;
  /** Chooses who approves, per call; wins over interrupts and `approve`. */
  readonly chooseApprover?: ((config: ToolRunnableConfig) => Approver | undefined) | undefined;
};

/** Which tools {@link SvcToolkit.getTools} returns; filters add up. */
export interface ToolFilter {
  readonly integrations?: readonly string[] | undefined;
  /** Full names on the service. */
  readonly tools?: readonly string[] | undefined;
  readonly levels?: readonly CatalogEntry["effect"][] | undefined;
  /** Most action tools to return, 1 to 117, or to 10,000 with `deferLoading`. Default 64. */
  readonly limit?: number | undefined;
  /**
   * Marks the action tools with `extras.defer_loading`, for providers that search tools themselves: the model is not
   * shown them until it looks for them. Default false.
   */
  readonly deferLoading?: boolean | undefined;
  /** Also return the static `svc_*` tools. Default true. */
  readonly staticTools?: boolean | undefined;
  /** Also return the tools for flows. Default: as `staticTools`. */
  readonly flowTools?: boolean | undefined;
}

/**
 * The user's tools for LangChain.
 *
 * @example
 * const toolkit = await SvcToolkit.create({ baseUrl, apiKey, mediaRoots: ["/srv/media"], approve });
 * const agent = createAgent({ model, tools: toolkit.getTools({ integrations: ["drive"] }) });
 */
export class SvcToolkit extends BaseToolkit {
  /** Catalogue, journal, standing permissions and the pipeline itself. */
  readonly session: ToolSession;
  readonly #caller: CallTranslator;
  /** One object per tool for as long as the toolkit lives: agents refuse a second one of the same name. */
  readonly #built = new Map<string, SvcTool>();
  /** How many known tools the last {@link getTools} left out. */
  #leftOut = 0;
  readonly #static: readonly SvcTool[];
  readonly #flow: readonly SvcTool[];

  private constructor(session: ToolSession, caller: CallTranslator, flowTools: readonly FlowTool[]) {
    super();
    this.session = session;
    this.#caller = caller;
    this.#static = session.staticTools.map((tool) => this.#createStaticTool(tool));
    this.#flow = flowTools.map((tool) => this.#createFlowTool(tool));
  }

  /**
   * Lists the user's tools and describes the first ones, so that `getTools` answers at once. The cache in `stateDir`
   * makes the second start quick.
   *
   * @throws SvcError for bad settings, an unreachable service or a key it does not accept
   */
  static async create(options: SvcToolkitOptions): Promise<SvcToolkit> {
    const feed = new ProgressFeed();
    const onEvent = (event: SessionEvent) => {
      options.onEvent?.(event);
      feed.emit(event);
    };
    const session = await createToolSession({ ...options, onEvent });
    try {
      const { integrations } = options;
      await session.catalog.load(integrations === undefined ? {} : { integrations });
      const ahead =
        options.describeAhead === 0 ? [] : selectEntries(session, { integrations, limit: options.describeAhead });
      await describeAll(
        session,
        ahead.map(({ name }) => name),
      );
      const flowTools = createFlowTools({
        client: session.client,
        journal: session.journal,
        approve: options.approve,
        approvalTtlMs: options.approvalTtlMs ?? FLOW_APPROVAL_MS,
        spent: new Map(),
        now: options.now ?? Date.now,
        sleep: options.sleep ?? sleepFor,
        emit: onEvent,
      });
      return new SvcToolkit(session, new CallTranslator(session, options, feed), flowTools);
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  /** All tools {@link getTools} gives without a filter. */
  get tools(): SvcTool[] {
    return this.getTools();
  }

  /**
   * Action tools that pass the filter, by app and name, then the static tools. What does not fit is never left out in
   * silence: the description of svc_search_tools says how many tools are reached through it only. Throws SvcError on
   * colliding names.
   */
  override getTools(filter: ToolFilter = {}): SvcTool[] {
    const entries = selectEntries(this.session, filter);
    this.#leftOut = this.session.catalog.size - entries.length;
    const actions = this.#getActions(entries, filter.deferLoading === true);
    const { staticTools = true, flowTools = staticTools } = filter;
    return [...actions, ...(flowTools ? this.#flow : []), ...(staticTools ? this.#static : [])];
  }

  /**
   * The tools with these full names, described first where they were not; unknown ones are left out. For tools found
   * while an agent runs: see `createDynamicToolsMiddleware`.
   */
  async loadTools(names: readonly string[]): Promise<SvcTool[]> {
    await describeAll(this.session, names);
    return names.flatMap((name) => {
      const entry = this.session.catalog.peek(name);
      return entry?.schemaHash === undefined ? [] : this.#getActions([entry], false);
    });
  }

  /** A tool this toolkit made, by the name a model calls it. */
  findTool(name: string): SvcTool | undefined {
    return this.#built.get(name) ?? [...this.#static, ...this.#flow].find((tool) => tool.name === name);
  }

  /** The graph's own way to ask, in a run that uses it. */
  openDesk(config: GraphConfig): TaskDesk | undefined {
    return this.#caller.openDesk(config);
  }

  /** Writes the cache and closes journal and connections. */
  async close(): Promise<void> {
    await this.session.close();
  }

  #getActions(entries: readonly CatalogEntry[], isDeferred: boolean): SvcTool[] {
    const definitions = buildTools(entries, { profile: this.session.profile, reserved: RESERVED_NAMES });
    return definitions.map((definition) => this.#getTool(definition, isDeferred));
  }

  #getTool({ name, description, toolName, integration, effect }: ToolDefinition, isDeferred: boolean): SvcTool {
    const known = this.#built.get(name);
    if (known !== undefined && (known.extras !== undefined) === isDeferred) return known;
    const readTarget = (call: LangChainCall) => ({ toolName, arguments: call.arguments });
    const tool = new SvcTool({
      name,
      description,
      schema: createLiveSchema(this.session, toolName),
      metadata: { toolName, integration, effect },
      ...(isDeferred ? { extras: { defer_loading: true } } : {}),
      run: (call) => this.#caller.run(call, (base) => this.session.call({ ...base, ...readTarget(call) })),
      preview: (call) => this.#caller.preview(call, readTarget(call)),
    });
    this.#built.set(name, tool);
    return tool;
  }

  #createStaticTool(tool: StaticTool): SvcTool {
    return new SvcTool({
      name: tool.name,
      description:
        tool.name === "svc_search_tools" ? () => tool.description + this.#describeLeftOut() : tool.description,
      schema: toToolSchema(tool.schema),
      run: (call) => this.#caller.run(call, (base) => tool.run(call.arguments, base)),
      preview: (call) => this.#caller.preview(call, tool.readTarget(call.arguments)),
    });
  }

  #createFlowTool(tool: FlowTool): SvcTool {
    return new SvcTool({
      name: tool.name,
      description: tool.description,
      schema: toToolSchema(tool.schema),
      run: (call) => this.#caller.run(call, (base) => tool.run(call.arguments, base)),
    });
  }

  #describeLeftOut(): string {
    const omitted = (this.session.catalog.report?.omitted ?? []).reduce((sum, { count }) => sum + count, 0);
    const count = this.#leftOut + omitted;
    return count === 0 ? "" : ` ${count} tools are not in your tool list and are found only this way.`;
  }
}

function selectEntries(session: ToolSession, filter: ToolFilter): CatalogEntry[] {
  const { integrations, tools, levels } = filter;
  const found = session.catalog
    .list()
    .filter((entry) => integrations === undefined || integrations.includes(entry.integration))
    .filter((entry) => tools === undefined || tools.includes(entry.name))
    .filter((entry) => levels === undefined || levels.includes(entry.effect));
  const max = filter.deferLoading === true ? MAX_DEFERRED : MAX_LIMIT;
  return found.slice(0, Math.min(Math.max(1, Math.trunc(filter.limit ?? DEFAULT_LIMIT)), max));
}

/** One tool that cannot be described must not cost the others: it is offered with an open schema. */
async function describeAll(session: ToolSession, names: readonly string[]): Promise<void> {
  // A cached description is read anew when the tool is first called, not for being listed.
  const queue = names.filter((name) => session.catalog.peek(name)?.schemaHash === undefined);
  const work = async () => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      await session.catalog.find(name).catch(() => undefined);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
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

async function sleepFor(ms: number, signal?: AbortSignal): Promise<void> {
  await delay(ms, undefined, signal === undefined ? {} : { signal });
}
