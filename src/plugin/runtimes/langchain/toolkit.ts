import { BaseToolkit } from "@langchain/core/tools";
import { createEmitter } from "../../../shared/base/concurrency.ts";
import { SvcError } from "../../../shared/errors.ts";
import type { CatalogEntry } from "../../calls/catalog/catalog-entry.ts";
import { type AllowedTools, describeTools, readAllowed } from "../../calls/catalog/limit-catalog.ts";
import {
  countMatching,
  describeUnlisted,
  LeftOutReport,
  MissingReport,
  selectEntries,
} from "../../calls/catalog/offer-tools.ts";
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
  readonly leftOut: LeftOutReport;
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
  readonly #leftOut: LeftOutReport;
  /**
   * Said in the description of svc_search_tools. The same until the next list is made: a description that changes between
   * two turns costs the provider's cache of the prompt.
   */
  #unlisted: string;
  readonly #missing: MissingReport;
  readonly #allow: AllowedTools | undefined;
  readonly #static: readonly SvcTool[];
  readonly #flow: readonly SvcTool[];

  private constructor(session: ToolSession, parts: ToolkitParts) {
    super();
    const { caller, missing, leftOut, allow } = parts;
    this.session = session;
    this.#unlisted = describeUnlisted(session.catalog, session.catalog.size);
    this.#leftOut = leftOut;
    this.#caller = caller;
    this.#missing = missing;
    this.#allow = allow;
    this.#registry = new ToolRegistry(session, caller);
    this.#static = session.staticTools.map((tool) => {
      const isSearch = tool.name === "svc_search_tools";
      return this.#registry.createStatic(tool, isSearch ? () => tool.description + this.#unlisted : tool.description);
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
      const reports = { missing: new MissingReport(tell), leftOut: new LeftOutReport(tell) };
      return new SvcToolkit(session, { caller, ...reports, allow });
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
   * The limit is reported as the event `tools_left_out` when it keeps tools back.
   *
   * @throws SvcError `invalid_config` for a wrong limit, level or name, and for `deferLoading` while tools have no
   * arguments yet; `unsupported` when names collide
   */
  override getTools(filter: ToolFilter = {}): SvcTool[] {
    checkFilter(filter);
    const entries = selectEntries(this.session.catalog, filter);
    const open = entries.filter(({ schemaHash }) => schemaHash === undefined);
    if (filter.deferLoading === true && open.length > 0) throw refuseUndescribed(open.length, entries.length);
    return this.#list(filter, entries);
  }

  /**
   * The tools of a filter, as {@link getTools} gives them, each with its arguments: those that have none yet are described
   * first, eight at a time. Or the tools with these full names, without the static ones; unknown ones are left out.
   *
   * @throws SvcError as {@link getTools}
   */
  async loadTools(wanted: readonly string[] | ToolFilter): Promise<SvcTool[]> {
    const { catalog } = this.session;
    if (!isNames(wanted)) {
      checkFilter(wanted);
      const names = selectEntries(catalog, wanted).map(({ name }) => name);
      await describeTools(catalog, names);
      return this.#list(wanted, selectEntries(catalog, wanted));
    }
    await describeTools(catalog, wanted);
    const found = wanted.flatMap((name) => {
      const entry = catalog.peek(name);
      return entry?.schemaHash === undefined ? [] : this.#registry.getActions([entry], false);
    });
    return this.#give(found);
  }

  #list(filter: ToolFilter, selected: readonly CatalogEntry[]): SvcTool[] {
    const { catalog } = this.session;
    const entries = this.#registry.keepWithin(selected, filter.maxToolTokens);
    const { integrations = this.#allow?.integrations, tools = this.#allow?.tools } = filter;
    this.#missing.update(catalog, { integrations, tools });
    this.#unlisted = describeUnlisted(catalog, entries.length) + this.#missing.describe();
    const { staticTools = true, flowTools = staticTools } = filter;
    this.#leftOut.update({ listed: entries.length, matching: countMatching(catalog, filter), isSaid: staticTools });
    const actions = this.#registry.getActions(entries, filter.deferLoading === true);
    return this.#give([...actions, ...(flowTools ? this.#flow : []), ...(staticTools ? this.#static : [])]);
  }

  /** A tool that `getTools` or `loadTools` has given before, or a static one, by the name a model calls it. */
  findTool(name: string): SvcTool | undefined {
    return this.#registry.find(name);
  }

  /** @internal Whether an agent can have the tool from here; false for a copy that {@link SvcTool.withAnswers} gave. */
  hasGiven(tool: SvcTool): boolean {
    return this.#given.has(tool);
  }

  /** @internal The graph's task that a call belongs to, where the human is asked through the graph. */
  findAskingTask(config: GraphConfig): GraphTask | undefined {
    return this.#caller.findAskingTask(config);
  }

  /** @internal See {@link CallTranslator.expectInterrupts}. */
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
}

/** `Array.isArray` does not narrow lists that are not to be changed. */
function isNames(wanted: readonly string[] | ToolFilter): wanted is readonly string[] {
  return Array.isArray(wanted);
}

function refuseUndescribed(open: number, all: number): SvcError {
  const text = `${open} of these ${all} tools have no arguments yet: a provider that searches them would find none.`;
  const hint = "Use await toolkit.loadTools({ deferLoading: true, … }), which fetches them first.";
  return new SvcError("invalid_config", text, { field: "deferLoading", hint, sent: false });
}
