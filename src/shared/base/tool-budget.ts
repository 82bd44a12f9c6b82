/** Most actions to offer at once: model providers accept 128 tools, and eleven are the static ones. */
export const MAX_OFFERED = 117;

const CHARS_PER_TOKEN = 4;

/** A tool as a model reads it. */
interface ReadTool {
  readonly name: string;
  readonly description: string;
  readonly schema: unknown;
}

/**
 * The tools, if a model reads all of them within `maxToolTokens`, and else none: it then searches. A tool counts by its
 * name, description and schema, at four characters for a token.
 */
export function keepWithin<Tool extends ReadTool>(tools: readonly Tool[], maxToolTokens: number): readonly Tool[] {
  let left = maxToolTokens * CHARS_PER_TOKEN;
  for (const { name, description, schema } of tools) {
    left -= name.length + description.length + JSON.stringify(schema).length;
    if (left < 0) return [];
  }
  return tools;
}
