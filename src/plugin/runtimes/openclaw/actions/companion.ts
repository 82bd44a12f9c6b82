import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "../../../../shared/base/disk.ts";
import { sha256Hex } from "../../../../shared/base/hash.ts";
import { SvcError } from "../../../../shared/errors.ts";
import type { Places } from "../host/places.ts";
import { GATE_MS, LINK } from "./action-tools.ts";
import { type ActionRecord, isPlainRead } from "./actions-file.ts";

/** Id of the generated plugin. */
export const COMPANION_ID = "svc-actions";

/** As the host's list of plugins shows it, beside the main one. */
const COMPANION_NAME = "Your apps' tools (part of svc)";

/** For the log when the main plugin was switched off or uninstalled and this one is still loaded. */
const LEFT_BEHIND =
  "svc-actions: the plugin svc is not loaded, so the tools of your apps are not offered. To have them again, install " +
  "svc and run: openclaw plugins enable svc. To be rid of them, run: openclaw plugins disable svc-actions";

/** Every tool profile of the host: a profile missing here would hide the tools. */
const PROFILES = ["minimal", "coding", "messaging", "full"] as const;

/** The host reads manifests of at most 256 KiB, and with a longer one refuses its whole configuration. */
const MAX_MANIFEST_BYTES = 256 * 1024;

/**
 * Writes the plugin that declares the action tools to the host, whose manifest must name each of them. At each assembly
 * of tools it asks the main plugin of the same process. Files that are already right are left alone.
 *
 * @returns id of the declared names and metadata, the same for the same tools
 * @throws SvcError `unsupported` for more tools than {@link countDeclarable} allows
 */
export async function writeCompanion(places: Places, actions: readonly ActionRecord[]): Promise<string> {
  const manifest = createManifest(actions);
  if (countDeclarable(actions) < actions.length) {
    throw new SvcError("unsupported", `OpenClaw cannot load ${actions.length} tools of one plugin.`, {
      field: "plugins.entries.svc.config.actions.limit",
      hint: "Set a lower limit, or name the apps you need in actions.integrations.",
    });
  }
  const files: Record<string, string> = {
    "package.json": toJson({
      name: COMPANION_ID,
      version: manifest.version,
      private: true,
      type: "module",
      openclaw: { extensions: ["./index.js"] },
    }),
    "index.js": createCode(places.companion, manifest.contracts.tools),
    // Last: the host may look at any time, and it looks at this file.
    "openclaw.plugin.json": toJson(manifest),
  };
  for (const [name, text] of Object.entries(files)) {
    const path = join(places.companion, name);
    if ((await readFile(path, "utf8").catch(() => undefined)) !== text) await replaceFile(path, text);
  }
  const { contracts, toolMetadata } = manifest;
  return sha256Hex(JSON.stringify([contracts, toolMetadata])).slice(0, 16);
}

/** How many of these tools, from the first on, the host's limit for a manifest allows; more than 1,200 in any case. */
export function countDeclarable(actions: readonly ActionRecord[]): number {
  let room = MAX_MANIFEST_BYTES - toJson(createManifest([])).length;
  for (const [index, action] of actions.entries()) {
    room -= JSON.stringify(action.name).length * 2 + JSON.stringify(createMetadata(action)).length + ",,:".length;
    if (room < 0) return index;
  }
  return actions.length;
}

function createManifest(actions: readonly ActionRecord[]) {
  return {
    id: COMPANION_ID,
    name: COMPANION_NAME,
    version: "1.0.0",
    description:
      "Declares the action tools of svc, which openclaw svc sync writes and openclaw svc unpair removes. There is nothing to set here.",
    categories: ["integrations"],
    activation: { onStartup: true },
    configSchema: {
      type: "object",
      additionalProperties: false,
      properties: { revision: { type: "string", description: "Which sync the tools come from." } },
    },
    contracts: { tools: actions.map(({ name }) => name) },
    toolMetadata: Object.fromEntries(actions.map((action) => [action.name, createMetadata(action)])),
  };
}

/** The host may make a call by itself again where the tool is marked `replaySafe`: plain reads only. */
function createMetadata(action: ActionRecord) {
  return { profiles: PROFILES, ...(isPlainRead(action) ? { replaySafe: true } : { sideEffecting: true }) };
}

/**
 * The hook is for these names only: the host blocks a call when a hook fails, and ours must never block another tool.
 * Tools are for these names only: the host logs an error for each one its loaded manifest does not name.
 */
function createCode(folder: string, names: readonly string[]): string {
  return `// Written by openclaw svc sync.
const NAMES = ${JSON.stringify(names)};
const declared = new Set(NAMES);
const findOffer = () => globalThis[Symbol.for(${JSON.stringify(LINK)})]?.get(${JSON.stringify(folder)});

export default {
  id: ${JSON.stringify(COMPANION_ID)},
  name: ${JSON.stringify(COMPANION_NAME)},
  register(api) {
    // After the next sync, and before the host has loaded its manifest, there are tools that are not declared yet.
    api.registerTool((context) => findOffer()?.createTools(context, NAMES).filter(({ name }) => declared.has(name)) ?? null);
    api.registerService({
      id: ${JSON.stringify(COMPANION_ID)},
      // Services start when every plugin is registered.
      start() {
        if (findOffer() === undefined) api.logger.warn(${JSON.stringify(LEFT_BEHIND)});
      },
    });
    if (NAMES.length === 0) return;
    api.on("before_tool_call", (event, context) => findOffer()?.gate(event, context), {
      matcher: NAMES,
      timeoutMs: ${GATE_MS},
    });
  },
};
`;
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
