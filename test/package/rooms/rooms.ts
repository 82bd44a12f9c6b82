/** Which part of `src` may import which: the table behind `npm run check`. Type imports count as well. */

const FOR_RUNTIMES = [
  "base",
  "wire",
  "card",
  "client/redact.ts",
  "media/open/roots.ts",
  "calls",
  "pairing",
  "errors.ts",
];

/** What each room may import; a path with an ending stands for that file alone. */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  base: ["errors.ts"],
  wire: ["base"],
  card: ["base", "wire"],
  schema: ["base", "wire", "errors.ts"],
  client: ["base", "wire", "errors.ts"],
  media: ["base", "wire", "client", "errors.ts"],
  calls: ["base", "wire", "card", "client", "schema", "media", "errors.ts"],
  pairing: ["base", "wire", "client", "errors.ts"],
  ...Object.fromEntries(
    // Both are the library in the shapes of another package.
    ["ai-sdk", "openai-agents"].map((name) => [`runtimes/${name}`, [...FOR_RUNTIMES, "runtimes/library"]]),
  ),
  "runtimes/*": FOR_RUNTIMES,
  service: ["base", "wire", "card", "schema/check", "errors.ts"],
};

/** The rooms of the service, lowest floor first. A room imports only from rooms before it. */
export const SERVICE_FLOORS: readonly string[] = [
  "telemetry",
  "store",
  "backup",
  "secrets",
  "auth",
  "files",
  "fetch",
  "integrations",
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
