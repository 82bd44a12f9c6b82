import { checkNumbers } from "../../../shared/base/check-settings.ts";
import { createEmitter } from "../../../shared/base/concurrency.ts";
import { keepWithin, MAX_OFFERED } from "../../../shared/base/tool-budget.ts";
import { buildTools, type ToolDefinition } from "../../calls/build.ts";
import { describeTools, readAllowed } from "../../calls/catalog/limit-catalog.ts";
import { describeUnlisted, MissingReport, selectEntries } from "../../calls/catalog/offer-tools.ts";
import { type OutcomeStatus, renderOutcome, type ToolOutcome } from "../../calls/outcome.ts";
import type { ToolCall } from "../../calls/pipeline.ts";
import { createToolSession, type ToolSession, type ToolSessionOptions } from "../../calls/session.ts";
import { checkSettingNames } from "../../calls/session-settings.ts";
import { FLOW_TOOL_NAMES, STATIC_TOOL_NAMES } from "../../calls/static-tools.ts";

/** Settings of {@link openToolbox}: those of a session, and which actions to offer under their own names. */
export type ToolboxOptions = ToolSessionOptions & {
  /** The model may use actions of these apps only; the same as `allow.integrations`. Default: all. */
  readonly integrations?: readonly string[] | undefined;
  /** Most actions to offer under their own names, 0 to 117. Default 64; svc_call_tool reaches the others. */
  readonly limit?: number | undefined;
  /**
   * Most tokens of their names, descriptions and schemas, at four characters each; with more no action is offered under
   * its own name. Default 20,000.
   */
  readonly maxToolTokens?: number | undefined;
};

/** A host's call without tool and arguments. */
export type OfferedCall = Omit<ToolCall, "toolName" | "arguments">;

/** How a call ended. */
export interface ToolReply {
  readonly status: OutcomeStatus;
  /** For the model: one JSON object, text from outside named as data. */
  readonly text: string;
  /** The same for the host: link to connect, open request, result as a value. */
  readonly outcome: ToolOutcome;
}

/** One tool as a host offers it to its model. */
export interface OfferedTool {
  /** Legal for every model provider: at most 64 of `[A-Za-z0-9_-]`, unique in the toolbox. */
  readonly name: string;
  /** Full name on the service, or that of a tool of the plugin itself. */
  readonly toolName: string;
  readonly description: string;
  readonly schema: ToolDefinition["schema"];
  /** Runs the tool. Throws only for an aborted call; everything else is a reply. */
  run(args: unknown, call: OfferedCall): Promise<ToolReply>;
}

/** The user's tools for any runtime. */
export interface Toolbox {
  /**
   * The tools to offer, as they are known now: actions by app and name, then the ones that are always there. Read it
   * before each turn, so that a changed description or schema reaches the model.
   *
   * @throws SvcError `unsupported` when the names of two actions collide
   */
  readonly tools: readonly OfferedTool[];
  /** Catalogue, standing permissions, chosen accounts, journal. */
  readonly session: ToolSession;
  /** Writes the cache and closes journal and connections. */
  close(): Promise<void>;
}

const MAX_TOOL_TOKENS = 20_000;
const RESERVED_NAMES = [...STATIC_TOOL_NAMES, ...FLOW_TOOL_NAMES];

/**
 * Opens the user's tools for a runtime that has no adapter of its own: lists the actions and describes the ones to be
 * offered. With `stateDir` the second start needs no request. Apps among `integrations` that are not known, which may
 * only mean that this user has not connected them, are reported as the event `tools_not_found`, or as a warning of the
 * process where there is no `onEvent`.
 *
 * @example
 * const { tools, close } = await openToolbox({ baseUrl, apiKey, stateDir, mediaRoots, approve });
 *
 * @throws SvcError for bad settings, an unreachable service or a key it does not accept
 */
export async function openToolbox(options: ToolboxOptions): Promise<Toolbox> {
  const { limit, maxToolTokens = MAX_TOOL_TOKENS, integrations: _, ...settings } = options;
  checkSettingNames(options, ["limit", "maxToolTokens", "integrations"]);
  checkNumbers(options, {
    limit: { min: 0, max: MAX_OFFERED, isWhole: true },
    maxToolTokens: { min: 0, max: Number.MAX_SAFE_INTEGER, isWhole: true },
  });
  const allow = readAllowed(options);
  const session = await createToolSession({ ...settings, allow });
  try {
    await session.catalog.load();
    const { onEvent } = options;
    new MissingReport(onEvent && createEmitter(onEvent)).update(session.catalog, { integrations: allow?.integrations });
    const select = () => selectEntries(session.catalog, { limit });
    await describeTools(
      session.catalog,
      select().map(({ name }) => name),
    );
    const always = [...session.staticTools, ...session.flowTools];
    return {
      get tools() {
        const built = buildTools(select(), { profile: session.profile, reserved: RESERVED_NAMES });
        const actions = keepWithin(built, maxToolTokens);
        const leftOut = describeUnlisted(session.catalog, actions.length);
        return [
          ...actions.map((tool) =>
            offer(tool, (args, call) => session.call({ ...call, toolName: tool.toolName, arguments: args })),
          ),
          ...always.map(({ name, description, schema, run }) => {
            const shown = name === "svc_search_tools" ? description + leftOut : description;
            return offer({ name, toolName: name, description: shown, schema }, run);
          }),
        ];
      },
      session,
      close: () => session.close(),
    };
  } catch (error) {
    await session.close();
    throw error;
  }
}

function offer(
  { name, toolName, description, schema }: Omit<OfferedTool, "run">,
  run: (args: unknown, call: OfferedCall) => Promise<ToolOutcome>,
): OfferedTool {
  return { name, toolName, description, schema, run: async (args, call) => toReply(await run(args, call)) };
}

function toReply(outcome: ToolOutcome): ToolReply {
  return { status: outcome.status, text: renderOutcome(outcome), outcome };
}
