import type { ToolCatalog } from "./catalog.ts";

const PARALLEL = 8;

/**
 * Describes the named tools that are not described yet, several at a time. One tool that cannot be described must not
 * cost the others: it keeps its open schema. A cached description is read anew when the tool is first called, not here.
 */
export async function describeTools(catalog: ToolCatalog, names: readonly string[]): Promise<void> {
  const queue = names.filter((name) => catalog.peek(name)?.schemaHash === undefined);
  const work = async () => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      await catalog.find(name).catch(() => undefined);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
}
