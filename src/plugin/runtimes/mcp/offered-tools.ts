import type { Tool } from "@modelcontextprotocol/server";
import { isRecord } from "../../../shared/base/json.ts";
import { keepWithin, MAX_OFFERED } from "../../../shared/base/tool-budget.ts";
import { SHOWN_BY_APP } from "../../../shared/wire/mcp-app.ts";
import type { JsonSchema } from "../../../shared/wire/tool.ts";
import { buildTools, toModelName } from "../../calls/build.ts";
import { type CatalogEntry, mustAskFirst } from "../../calls/catalog/catalog-entry.ts";
import { describeTools } from "../../calls/catalog/limit-catalog.ts";
import { countMatching, selectEntries } from "../../calls/catalog/offer-tools.ts";
import type { ToolOutcome } from "../../calls/outcome.ts";
import type { HumanChannel, ToolCall } from "../../calls/pipeline.ts";
import type { ToolSession } from "../../calls/session.ts";
import { CALL_TOOL } from "./waiting-page.ts";

/** Most described tools that are listed beside the given ones, the latest first: a model reads the whole list. */
const MAX_FOUND = 24;
const READ_ONLY = new Set([
  "svc_search_tools",
  "svc_describe_tool",
  "svc_read_result",
  "svc_status",
  "svc_list_flow_templates",
  "svc_get_flow",
]);

type CallTerms = Pick<ToolCall, "callId" | "signal" | "resumesHeld"> & HumanChannel;

/** The tools that a client is shown, and calls. */
export interface OfferedTools {
  /** Our own tools, then the given ones, all that fit, and those that were described. */
  list(): Promise<Tool[]>;
  /** Any tool by the name in the list, or by its full name in the service. */
  run(name: string, args: unknown, terms: CallTerms): Promise<ToolOutcome>;
  /** True when the tool is listed under its own name. */
  has(toolName: string): boolean;
}

/** What is listed from the start. */
interface OfferSettings {
  /** Full names of the service's tools. */
  readonly names: readonly string[];
  /** All actions are listed while a model reads them within so many tokens; 0: none that is not named. */
  readonly maxToolTokens: number;
  /** Called when the list grows. */
  readonly onChange: () => void;
}

/** Creates the list of one client. Tools that were described are added to it, the latest 24 of them. */
export function createOfferedTools(
  session: ToolSession,
  { names, maxToolTokens, onChange }: OfferSettings,
): OfferedTools {
  const found: string[] = [];
  let fitting: readonly string[] = [];
  const own = [...session.staticTools, ...session.flowTools];
  const listNames = () => [...new Set([...names, ...fitting, ...found])];

  /** All actions, if they fit; a list that cannot be read is reported by whoever loads it. */
  async function findFitting(): Promise<readonly string[]> {
    if (maxToolTokens === 0) return [];
    await session.catalog.load().catch(() => undefined);
    if (countMatching(session.catalog, {}) > MAX_OFFERED) return [];
    const all = { limit: MAX_OFFERED };
    await describeTools(
      session.catalog,
      selectEntries(session.catalog, all).map(({ name }) => name),
    );
    const built = buildTools(selectEntries(session.catalog, all), { profile: session.profile, reserved: [] });
    return keepWithin(built, maxToolTokens).map(({ toolName }) => toolName);
  }

  /** By the name in the list; of two with the same name, and of those named like our own, the first alone is there. */
  function listEntries(): Map<string, CatalogEntry> {
    const entries = new Map<string, CatalogEntry>();
    for (const name of listNames()) {
      const entry = session.catalog.peek(name);
      const shown = toModelName(name);
      const isTaken = entries.has(shown) || own.some((tool) => tool.name === shown);
      if (entry !== undefined && !isTaken) entries.set(shown, entry);
    }
    return entries;
  }

  function keepFound({ result, status, toolName }: ToolOutcome): void {
    const name = isRecord(result) ? result.name : undefined;
    if (toolName !== "svc_describe_tool" || status !== "succeeded" || typeof name !== "string") return;
    const isNew = !listNames().includes(name);
    found.splice(0, found.length, ...[name, ...found.filter((other) => other !== name)].slice(0, MAX_FOUND));
    if (isNew) onChange();
  }

  return {
    has: (toolName) => listNames().includes(toolName),

    async list() {
      await describeTools(session.catalog, names);
      fitting = await findFitting();
      const entries = [...listEntries().values()];
      const direct = buildTools(entries, { profile: session.profile, reserved: [] }).map((tool, index) => {
        const entry = entries[index];
        const isRead = entry?.effect === "read" && !mustAskFirst(entry);
        return { ...toTool(tool, isRead), ...(isRead ? {} : { _meta: SHOWN_BY_APP }) };
      });
      const always = own.map((tool) => {
        return {
          ...toTool(tool, READ_ONLY.has(tool.name)),
          ...(tool.name === CALL_TOOL ? { _meta: SHOWN_BY_APP } : {}),
        };
      });
      return [...always, ...direct];
    },

    async run(name, args, terms) {
      const tool = own.find((one) => one.name === name);
      if (tool === undefined) {
        return session.call({ ...terms, toolName: listEntries().get(name)?.name ?? name, arguments: args });
      }
      const outcome = await tool.run(args, terms);
      keepFound(outcome);
      return outcome;
    },
  };
}

/** Without a hint a client takes a tool for one that may destroy something. */
function toTool(
  { name, description, schema }: { readonly name: string; readonly description: string; readonly schema: JsonSchema },
  isReadOnly: boolean,
): Tool {
  const annotations = isReadOnly ? { annotations: { readOnlyHint: true } } : {};
  return { name, description, inputSchema: { ...schema, type: "object" }, ...annotations };
}
