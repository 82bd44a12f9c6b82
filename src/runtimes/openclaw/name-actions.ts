import { FLOW_TOOL_NAMES } from "../../flows/flow-tool.ts";
import { toModelName } from "../../tools/build.ts";
import { STATIC_TOOL_NAMES } from "../../tools/static-tools.ts";
import { HOST_TOOL_NAMES, HOST_TOOL_PREFIXES } from "./host-tool-names.ts";

const LIMIT = 64;
const SUFFIX = "_svc";
const OWN_NAMES: ReadonlySet<string> = new Set([...STATIC_TOOL_NAMES, ...FLOW_TOOL_NAMES]);

/** The names of one set of tools. */
export interface ActionNames {
  /** Name of each tool that has one, by full name on the service. */
  readonly names: ReadonlyMap<string, string>;
  /** Full names of tools that would be shown under one name, and that name. */
  readonly collisions: readonly { readonly toolName: string; readonly name: string }[];
}

/**
 * Finds the names under which the host can offer these tools: the service's own where it is legal and free, with
 * `_svc` behind it where the host or this plugin has a tool or a plugin of that name. Two tools that would share a
 * name, letter case apart as the host compares, get none: calling the wrong one is worse than offering neither.
 */
export function nameActions(toolNames: readonly string[]): ActionNames {
  const byKey = Map.groupBy(new Set(toolNames), (toolName) => toHostName(toolName).toLowerCase());
  const names = new Map<string, string>();
  const collisions: { toolName: string; name: string }[] = [];
  for (const sharing of byKey.values()) {
    for (const toolName of sharing) {
      const name = toHostName(toolName);
      if (sharing.length === 1) names.set(toolName, name);
      else collisions.push({ toolName, name });
    }
  }
  return { names, collisions };
}

function toHostName(toolName: string): string {
  const name = toModelName(toolName);
  if (!isTaken(name.toLowerCase())) return name;
  return toModelName(
    name.length + SUFFIX.length <= LIMIT ? name + SUFFIX : `${name.slice(0, LIMIT - SUFFIX.length)}${SUFFIX}`,
  );
}

/** A name without an underscore may be the id of a plugin, which the host would then refuse to load. */
function isTaken(name: string): boolean {
  return (
    !name.includes("_") ||
    HOST_TOOL_NAMES.has(name) ||
    OWN_NAMES.has(name) ||
    HOST_TOOL_PREFIXES.some((prefix) => name.startsWith(prefix))
  );
}
