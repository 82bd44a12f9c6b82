import type { ToolRunnableConfig } from "@langchain/core/tools";
import {
  checkChoices,
  checkMembers,
  checkNames,
  checkNumbers,
  checkTypes,
  WAIT_BOUNDS,
} from "../../../shared/base/check-settings.ts";
import { MAX_OFFERED } from "../../../shared/base/tool-budget.ts";
import type { Approver } from "../../calls/ask/request.ts";
import type { CatalogEntry } from "../../calls/catalog/catalog-entry.ts";
import { MAX_DEFERRED } from "../../calls/catalog/offer-tools.ts";
import type { SessionSettings, ToolSessionOptions } from "../../calls/session.ts";
import { checkSettingNames } from "../../calls/session-settings.ts";

/** Settings of `SvcToolkit.create`: those of a session, and which tools to make ready. */
export type SvcToolkitOptions = ToolSessionOptions & {
  /** The model may use tools of these apps only; the same as `allow.integrations`. Default: all. */
  readonly integrations?: readonly string[] | undefined;
  /**
   * How many tools, by app and name, are given their arguments at the start, 0 to 10,000. Default 64. A model is shown
   * the others without arguments, unless they are loaded by `loadTools`.
   */
  readonly describeAhead?: number | undefined;
  /**
   * Who is asked inside a LangGraph run that can be resumed. `interrupt`: the graph stops with the question and is resumed
   * with the answer. `callback`: `approve` and `chooseConnection`, as everywhere else. Default `callback` where there is
   * an `approve`, and `interrupt` otherwise.
   */
  readonly askThrough?: "interrupt" | "callback" | undefined;
  /** Milliseconds an interrupt may wait for its answer, at most 24 days. Default 7 days. */
  readonly interruptTtlMs?: number | undefined;
  /** Chooses who approves, per call; wins over interrupts and `approve`. */
  readonly chooseApprover?: ((config: ToolRunnableConfig) => Approver | undefined) | undefined;
};

/**
 * Which tools `SvcToolkit.getTools` and `loadTools` return; a tool has to pass all of it. This narrows the list only: `svc_call_tool`
 * reaches everything that `allow` of `SvcToolkit.create` permits.
 */
export interface ToolFilter {
  readonly integrations?: readonly string[] | undefined;
  /** Full names on the service. */
  readonly tools?: readonly string[] | undefined;
  readonly levels?: readonly CatalogEntry["effect"][] | undefined;
  /** Most action tools to return, 1 to 117, with `deferLoading` to 10,000. Default 64. */
  readonly limit?: number | undefined;
  /**
   * Most tokens of the action tools' names, descriptions and schemas, at four characters each: with more none of them is
   * returned, and the model searches. Default: any number.
   */
  readonly maxToolTokens?: number | undefined;
  /**
   * Marks the action tools with `extras.defer_loading`, for LangChain's `providerToolSearchMiddleware`: the model is not
   * shown them until it looks for them. Use it with `loadTools`, which gives each its arguments. Default false.
   */
  readonly deferLoading?: boolean | undefined;
  /** Also return the static `svc_*` tools. Default true. */
  readonly staticTools?: boolean | undefined;
  /** Also return the tools for flows. Default: as `staticTools`. */
  readonly flowTools?: boolean | undefined;
}

const LEVELS: readonly string[] = ["read", "write", "delete", "admin", "unknown"];

type OwnName = Exclude<keyof SvcToolkitOptions, keyof SessionSettings | "client" | "baseUrl" | "apiKey">;

/** Settings besides those of a session; complete, because the compiler compares it with the type. */
const OWN: Readonly<Record<OwnName, true>> = {
  integrations: true,
  describeAhead: true,
  askThrough: true,
  interruptTtlMs: true,
  chooseApprover: true,
};

/**
 * Refuses settings of a toolkit that cannot be meant.
 *
 * @throws SvcError `invalid_config` naming the setting
 */
export function checkToolkitOptions(options: SvcToolkitOptions): void {
  checkSettingNames(options, Object.keys(OWN));
  checkNumbers(options, { interruptTtlMs: WAIT_BOUNDS, describeAhead: { min: 0, max: MAX_DEFERRED, isWhole: true } });
  checkChoices(options, { askThrough: ["interrupt", "callback"] });
  checkTypes(options, { chooseApprover: "function", onEvent: "function" });
}

/** Without the toolkit's own settings. */
export function pickSessionOptions(options: SvcToolkitOptions): ToolSessionOptions {
  const { integrations, describeAhead, askThrough, interruptTtlMs, chooseApprover, ...others } = options;
  return others;
}

/** Every member of a filter; complete, because the compiler compares it with the type. */
const FILTER: Readonly<Record<keyof ToolFilter, true>> = {
  integrations: true,
  tools: true,
  levels: true,
  limit: true,
  maxToolTokens: true,
  deferLoading: true,
  staticTools: true,
  flowTools: true,
};

/**
 * Refuses a filter that cannot be meant. Names that are not known are no reason: see `MissingReport`.
 *
 * @throws SvcError `invalid_config` naming the member
 */
export function checkFilter(filter: ToolFilter): void {
  checkMembers(filter, Object.keys(FILTER));
  checkTypes(filter, { deferLoading: "boolean", staticTools: "boolean", flowTools: "boolean" });
  checkNumbers(filter, {
    limit: { min: 1, max: filter.deferLoading === true ? MAX_DEFERRED : MAX_OFFERED, isWhole: true },
    maxToolTokens: { min: 0, max: Number.MAX_SAFE_INTEGER, isWhole: true },
  });
  checkNames(filter, ["integrations", "tools"]);
  for (const levels of filter.levels ?? []) checkChoices({ levels }, { levels: LEVELS });
}
