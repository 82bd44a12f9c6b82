import type { SourceKind, SourceKindName } from "./port/source.ts";

/** Loads the code of a kind when the first source of it is opened. */
export type SourceKinds = Readonly<Record<SourceKindName, () => Promise<SourceKind>>>;

/** The kinds this version can open. */
export const sourceKinds: SourceKinds = {
  openapi: async () => (await import("./openapi/openapi-kind.ts")).openApiKind,
  mcp: async () => (await import("./mcp/mcp-kind.ts")).mcpKind,
};
