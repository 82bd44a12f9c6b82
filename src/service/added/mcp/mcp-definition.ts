import { z } from "zod";
import type { SettingField } from "../../integrations/integration.ts";
import { ServiceError } from "../../service-error.ts";

const trust = {
  /**
   * True: the server's own annotations decide what reads and what deletes. False: every tool is a write that a human
   * confirms, because a server's word about itself proves nothing.
   */
  trusted: z.boolean(),
};

const definitionSchema = z.discriminatedUnion("transport", [
  z.object({
    transport: z.literal("stdio"),
    command: z.string().min(1),
    args: z.array(z.string()).readonly(),
    /** Names of environment variables whose values are settings of the connection. */
    env: z.array(z.string().min(1)).readonly(),
    /** Absolute path. */
    cwd: z.string().optional(),
    ...trust,
  }),
  z.object({
    transport: z.literal("http"),
    url: z.url({ protocol: /^https?$/ }),
    /** True when the owner said that this address may be one of a private network, and without encryption. */
    isPrivate: z.boolean(),
    /** Names of request headers whose values are settings of the connection. */
    headers: z.array(z.string().min(1)).readonly(),
    ...trust,
  }),
]);

/** How an MCP server is reached. */
export type McpDefinition = z.output<typeof definitionSchema>;

/** @throws ServiceError 422 `integration_misconfigured`. */
export function readMcpDefinition(stored: unknown): McpDefinition {
  const parsed = definitionSchema.safeParse(stored);
  if (parsed.success) return parsed.data;
  throw new ServiceError(422, "integration_misconfigured", "The stored address of this MCP server cannot be read.", {
    hint: 'Add it again with "svc add mcp".',
    cause: parsed.error,
  });
}

/** What a connection to the server is asked for: one secret for each variable or header. */
export function listMcpSettings(definition: McpDefinition): SettingField[] {
  const names = definition.transport === "stdio" ? definition.env : definition.headers;
  const help =
    definition.transport === "stdio" ? "Environment variable of the server." : "Header of each request to the server.";
  return names.map((name) => ({ name, label: name, kind: "secret", help }));
}

/** The settings as the text values of variables or headers. */
export function pickSecrets(names: readonly string[], settings: Readonly<Record<string, unknown>>) {
  const found = names.flatMap((name) => {
    const value = settings[name];
    return typeof value === "string" ? [[name, value] as const] : [];
  });
  return Object.fromEntries(found);
}
