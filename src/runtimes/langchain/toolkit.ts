import { BaseToolkit, type StructuredTool, type ToolRunnableConfig } from "@langchain/core/tools";
import { toJsonSchema } from "@langchain/core/utils/json_schema";
import type { Approver } from "../../approvals/request.ts";
import { buildTools, type ToolDefinition } from "../../tools/build.ts";
import { carrySchema } from "../../tools/carry-schema.ts";
import type { CatalogEntry } from "../../tools/catalog-entry.ts";
import { createToolSession, type ToolSession, type ToolSessionOptions } from "../../tools/session.ts";
import { STATIC_TOOL_NAMES, type StaticTool } from "../../tools/static-tools.ts";
import { type LangChainCall, SvcTool } from "./svc-tool.ts";

/** Most action tools that are described when the toolkit is made, and returned without a `limit`. */
const DEFAULT_LIMIT = 64;
/** Model providers take at most this many tools. */
const MAX_LIMIT = 123;
const PARALLEL = 8;

/** Settings of {@link SvcToolkit.create}: those of a session, and which tools to make ready. */
export type SvcToolkitOptions = ToolSessionOptions & {
  /** Only tools of these apps are listed and described. Default: all. */
  readonly integrations?: readonly string[] | undefined;
  /** How many tools to describe ahead, 1 to 123. Default 64; the others are reached through svc_call_tool. */
  readonly describeAhead?: number | undefined;
  /** Chooses who approves, per call; wins over `approve`. */
  readonly chooseApprover?: ((config: ToolRunnableConfig) => Approver | undefined) | undefined;
};

/** Which tools {@link SvcToolkit.getTools} returns; filters add up. */
export interface ToolFilter {
  readonly integrations?: readonly string[] | undefined;
  /** Full names on the service. */
  readonly tools?: readonly string[] | undefined;
  readonly levels?: readonly CatalogEntry["effect"][] | undefined;
  /** Most action tools to return, 1 to 123. Default 64. */
  readonly limit?: number | undefined;
  /** Also return the static `svc_*` tools. Default true. */
  readonly staticTools?: boolean | undefined;
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
  readonly #chooseApprover: SvcToolkitOptions["chooseApprover"];
  /** One tool object per schema: LangChain caches by object. */
  readonly #built = new Map<string, { readonly definition: ToolDefinition; readonly tool: SvcTool }>();
  readonly #static: readonly SvcTool[];

  private constructor(session: ToolSession, chooseApprover: SvcToolkitOptions["chooseApprover"]) {
    super();
    this.session = session;
    this.#chooseApprover = chooseApprover;
    this.#static = session.staticTools.map((tool) => this.#createStaticTool(tool));
  }

  /**
   * Lists the user's tools and describes the first ones, so that `getTools` answers at once. The cache in `stateDir`
   * makes the second start quick.
   *
   * @throws SvcError for bad settings, an unreachable service or a key it does not accept
   */
  static async create(options: SvcToolkitOptions): Promise<SvcToolkit> {
    const session = await createToolSession(options);
    try {
      const { integrations } = options;
      await session.catalog.load(integrations === undefined ? {} : { integrations });
      const wanted = selectEntries(session, { integrations, limit: options.describeAhead });
      await describeAll(session, wanted);
      return new SvcToolkit(session, options.chooseApprover);
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  /** All tools {@link getTools} gives without a filter. */
  get tools(): SvcTool[] {
    return this.getTools();
  }

  /** Action tools that pass the filter, by app and name, then the static tools. Throws SvcError on colliding names. */
  override getTools(filter: ToolFilter = {}): SvcTool[] {
    const entries = selectEntries(this.session, filter);
    const definitions = buildTools(entries, { profile: this.session.profile, reserved: STATIC_TOOL_NAMES });
    const actions = definitions.map((definition) => this.#getTool(definition));
    return filter.staticTools === false ? actions : [...actions, ...this.#static];
  }

  /** Writes the cache and closes journal and connections. */
  async close(): Promise<void> {
    await this.session.close();
  }

  #getTool(definition: ToolDefinition): SvcTool {
    const known = this.#built.get(definition.name);
    const isSame =
      known?.definition.schema === definition.schema && known.definition.description === definition.description;
    if (known !== undefined && isSame) return known.tool;
    const { name, description, toolName, integration, effect } = definition;
    const tool = new SvcTool({
      name,
      description,
      schema: toToolSchema(definition.schema),
      metadata: { toolName, integration, effect },
      run: (call) => this.session.call({ toolName, ...this.#translate(call, integration) }),
    });
    this.#built.set(name, { definition, tool });
    return tool;
  }

  #createStaticTool(tool: StaticTool): SvcTool {
    return new SvcTool({
      name: tool.name,
      description: tool.description,
      schema: toToolSchema(tool.schema),
      run: (call) => tool.run(call.arguments, this.#translate(call)),
    });
  }

  #translate(call: LangChainCall, integration?: string) {
    const approve = this.#chooseApprover?.(call.config);
    const connectionId = integration === undefined ? undefined : readConnection(call.config, integration);
    return {
      callId: call.callId,
      arguments: call.arguments,
      ...(call.signal === undefined ? {} : { signal: call.signal }),
      ...(approve === undefined ? {} : { approve }),
      ...(connectionId === undefined ? {} : { connectionId }),
    };
  }
}

function selectEntries(session: ToolSession, filter: ToolFilter): CatalogEntry[] {
  const { integrations, tools, levels } = filter;
  const found = session.catalog
    .list()
    .filter((entry) => integrations === undefined || integrations.includes(entry.integration))
    .filter((entry) => tools === undefined || tools.includes(entry.name))
    .filter((entry) => levels === undefined || levels.includes(entry.effect));
  return found.slice(0, Math.min(Math.max(1, Math.trunc(filter.limit ?? DEFAULT_LIMIT)), MAX_LIMIT));
}

/** One tool that cannot be described must not cost the others: it is offered with an open schema. */
async function describeAll(session: ToolSession, entries: readonly CatalogEntry[]): Promise<void> {
  const queue = entries.map((entry) => entry.name);
  const work = async () => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      await session.catalog.find(name).catch(() => undefined);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
}

/** LangChain names its own zod type here; any zod schema or JSON Schema is taken. */
function toToolSchema(schema: ToolDefinition["schema"]): StructuredTool["schema"] {
  return carrySchema(schema, toJsonSchema) as StructuredTool["schema"];
}

/** Hosts choose accounts through `configurable.svcConnections`, an object from integration slug to connection id. */
function readConnection(config: ToolRunnableConfig, integration: string): string | undefined {
  const chosen: unknown = config.configurable?.svcConnections;
  if (typeof chosen !== "object" || chosen === null || !Object.hasOwn(chosen, integration)) return undefined;
  const id: unknown = Reflect.get(chosen, integration);
  return typeof id === "string" || typeof id === "number" ? String(id) : undefined;
}
