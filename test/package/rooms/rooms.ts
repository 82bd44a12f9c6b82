/** Which part of `src` may import which: the table behind `npm run check`. Type imports count as well. */

const BASICS = ["shared/base", "shared/wire", "shared/errors.ts"];

const FOR_RUNTIMES = [
  ...BASICS,
  "shared/card",
  "plugin/client/redact.ts",
  "plugin/media/open/roots.ts",
  "plugin/calls",
  "plugin/pairing",
];

/** What apps use of the service that runs them. */
const FOR_APPS = ["shared", "service/files", "service/fetch", "service/service-error.ts"];

/** What each room may import; a path with an ending stands for that file alone. */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  "shared/base": ["shared/errors.ts"],
  "shared/wire": ["shared/base"],
  "shared/card": ["shared/base", "shared/wire"],
  "shared/schema-check": BASICS,
  "plugin/client": BASICS,
  "plugin/schema": [...BASICS, "shared/schema-check"],
  "plugin/media": [...BASICS, "plugin/client"],
  "plugin/calls": ["shared", "plugin/client", "plugin/schema", "plugin/media"],
  "plugin/pairing": [...BASICS, "plugin/client"],
  ...Object.fromEntries(
    // Both are the library in the shapes of another package.
    ["ai-sdk", "openai-agents"].map((name) => [
      `plugin/runtimes/${name}`,
      [...FOR_RUNTIMES, "plugin/runtimes/library"],
    ]),
  ),
  "plugin/runtimes/*": FOR_RUNTIMES,
  "apps/port": FOR_APPS,
  "apps/text": ["shared"],
  "apps/known": ["shared", "apps/port", "apps/mcp"],
  "apps/calendar": [...FOR_APPS, "apps/port", "apps/text", "apps/collections"],
  "apps/contacts": [...FOR_APPS, "apps/port", "apps/text", "apps/collections"],
  "apps/*": [...FOR_APPS, "apps/port", "apps/text"],
  // The apps by their port, and by the lists that say which there are.
  service: ["shared", "apps/port", "apps/built-in.ts", "apps/source-kinds.ts", "apps/known"],
};

/**
 * The rooms of the service, lowest floor first. A room imports only from rooms before it; `apps` stands for the wing of that
 * name, which is built on the floors below it.
 */
export const SERVICE_FLOORS: readonly string[] = [
  "telemetry",
  "store",
  "backup",
  "secrets",
  "auth",
  "files",
  "fetch",
  "apps",
  "connections",
  "catalog",
  "added",
  "access",
  "executions",
  "approvals",
  "flows",
  "oauth",
  "notify",
  "triggers",
  "metrics",
  "mcp",
  "health",
  "http",
];

/** Files every room of the service may import, although they stand beside the rooms. */
export const SERVICE_COMMON: readonly string[] = ["service-error.ts"];

/** Imports that still run upwards; each is one to remove, and none is ever added. */
export const KNOWN_UPWARD: readonly string[] = [];
