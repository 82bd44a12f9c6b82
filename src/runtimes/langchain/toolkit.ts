import { BaseToolkit } from "@langchain/core/tools";
import { createEmitter } from "../../base/concurrency.ts";
import {
  type AllowedTools,
  describeTools,
  describeUnlisted,
  MissingReport,
  readAllowed,
  selectEntries,
} from "../../calls/catalog/limit-catalog.ts";
import { createToolSession, type ToolSession } from "../../calls/session.ts";
import { CallTranslator, createMemoryWarning } from "./call-translator.ts";
import type { GraphConfig } from "./graph-config.ts";
import type { GraphTask } from "./graph-task.ts";
import { ProgressFeed } from "./progress.ts";
import type { SvcTool } from "./svc-tool.ts";
import { ToolRegistry } from "./tool-registry.ts";
import {
  checkFilter,
  checkToolkitOptions,
  pickSessionOptions,
  type SvcToolkitOptions,
  type ToolFilter,
} from "./toolkit-options.ts";

/** Parts of a toolkit besides its session. */
interface ToolkitParts {
  readonly caller: CallTranslator;
  readonly missing: MissingReport;
  readonly allow: AllowedTools | undefined;
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
  readonly #registry: ToolRegistry;
  readonly #given = new WeakSet<SvcTool>();
  /** How many actions the last {@link getTools} gave. */
  #listed: number;
  readonly #missing: MissingReport;
  readonly #allow: AllowedTools | undefined;
  readonly #static: readonly SvcTool[];
  readonly #flow: readonly SvcTool[];

  private constructor(session: ToolSession, parts: ToolkitParts) {
    super();
    const { caller, missing, allow } = parts;
    this.session = session;
    this.#listed = session.catalog.size;
    this.#caller = caller;
    this.#missing = missing;
    this.#allow = allow;
    this.#registry = new ToolRegistry(session, caller);
    this.#static = session.staticTools.map((tool) => {
      const isSearch = tool.name === "svc_search_tools";
      return this.#registry.createStatic(
        tool,
        isSearch ? () => tool.description + this.#describeLeftOut() : tool.description,
      );
    });
    this.#flow = session.flowTools.map((tool) => this.#registry.createStatic(tool, tool.description));
  }

  /**
   * Lists the user's tools and describes the first ones, so that `getTools` answers at once. The cache in `stateDir`
   * makes the second start quick.
   *
   * @throws SvcError for bad settings, an unreachable service or a key it does not accept
   */
  static async create(options: SvcToolkitOptions): Promise<SvcToolkit> {
    checkToolkitOptions(options);
    const tell = options.onEvent && createEmitter(options.onEvent);
    const feed = new ProgressFeed(tell);
    const allow = readAllowed(options);
    const session = await createToolSession({ ...pickSessionOptions(options), allow, onEvent: feed.emit });
    try {
      await session.catalog.load();
      const ahead = selectEntries(session.catalog, { limit: options.describeAhead });
      await describeTools(
        session.catalog,
        ahead.map(({ name }) => name),
      );
      const caller = new CallTranslator(session, options, { feed, warnForgetful: createMemoryWarning(tell) });
      return new SvcToolkit(session, { caller, missing: new MissingReport(tell), allow });
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
   * Action tools that pass the filter, by app and name, then the static tools. Tools that do not fit are never left out
   * silently: the description of svc_search_tools says how many tools are reached through it only. Names and apps that
   * are not known, which may only mean that this user has not connected the app, are named there too and reported as
   * the event `tools_not_found`, or as a warning of the process where there is no `onEvent`.
   *
   * @throws SvcError `invalid_config` for a wrong limit, level or name, `unsupported` when names collide
   */
  override getTools(filter: ToolFilter = {}): SvcTool[] {
    checkFilter(filter);
    const { catalog } = this.session;
    const entries = selectEntries(catalog, filter);
    this.#listed = entries.length;
    const { integrations = this.#allow?.integrations, tools = this.#allow?.tools } = filter;
    this.#missing.update(catalog, { integrations, tools });
    const actions = this.#registry.getActions(entries, filter.deferLoading === true);
    const { staticTools = true, flowTools = staticTools } = filter;
    return this.#give([...actions, ...(flowTools ? this.#flow : []), ...(staticTools ? this.#static : [])]);
  }

  /**
   * The tools with these full names, described first where they were not; unknown ones are left out. For tools found
   * while an agent runs: see `createDynamicToolsMiddleware`.
   */
  async loadTools(names: readonly string[]): Promise<SvcTool[]> {
    await describeTools(this.session.catalog, names);
    const found = names.flatMap((name) => {
      const entry = this.session.catalog.peek(name);
      return entry?.schemaHash === undefined ? [] : this.#registry.getActions([entry], false);
    });
    return this.#give(found);
  }

  /** A tool this toolkit made, by the name a model calls it. */
  findTool(name: string): SvcTool | undefined {
    return this.#registry.find(name);
  }

  /** Whether an agent can have the tool from here; false for a copy that {@link SvcTool.withAnswers} gave. */
  hasGiven(tool: SvcTool): boolean {
    return this.#given.has(tool);
  }

  /** The graph's task that a call belongs to, where the human is asked through the graph. */
  findAskingTask(config: GraphConfig): GraphTask | undefined {
    return this.#caller.findAskingTask(config);
  }

  /** See {@link CallTranslator.expectInterrupts}. */
  expectInterrupts(): void {
    this.#caller.expectInterrupts();
  }

  /** Writes the cache and closes journal and connections. */
  async close(): Promise<void> {
    await this.session.close();
  }

  #give(tools: SvcTool[]): SvcTool[] {
    for (const tool of tools) this.#given.add(tool);
    return tools;
  }

  #describeLeftOut(): string {
    return describeUnlisted(this.session.catalog, this.#listed) + this.#missing.describe();
  }
}
