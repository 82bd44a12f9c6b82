import { isRecord } from "../../../shared/base/json.ts";
import { type GraphConfig, readText } from "./graph-config.ts";

/** Most messages that are read, from the end. */
const MOST_MESSAGES = 200;

/**
 * What the human wrote, the latest last: `svcOwnerWords` in `configurable` or `context`, else the human messages of the graph's
 * state. Those of a graph within a graph may be a model's, and so may those with a name or a mark of who wrote them.
 */
export function readOwnerWords(config: GraphConfig): readonly string[] | undefined {
  const { configurable, context, state } = config;
  const given = [configurable?.svcOwnerWords, isRecord(context) ? context.svcOwnerWords : undefined].find(
    Array.isArray,
  );
  if (given !== undefined) return given.filter((text) => typeof text === "string");
  const messages: unknown = isRecord(state) ? state.messages : state;
  if (!Array.isArray(messages) || isNested(config)) return undefined;
  return messages.slice(-MOST_MESSAGES).flatMap(readHuman);
}

function isNested({ configurable, executionInfo }: GraphConfig): boolean {
  const place = readText(configurable, "checkpoint_ns") ?? readText(executionInfo, "checkpointNs") ?? "";
  return place.includes("|");
}

function readHuman(message: unknown): string[] {
  if (typeof message !== "object" || message === null) return [];
  const kind = readText(message, "type") ?? readText(message, "role");
  if ((kind !== "human" && kind !== "user") || readText(message, "name") !== undefined) return [];
  const extra: unknown = Reflect.get(message, "additional_kwargs");
  if (isRecord(extra) && extra.lc_source !== undefined) return [];
  return readContent(Reflect.get(message, "content"));
}

function readContent(content: unknown): string[] {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: unknown) => {
    return isRecord(part) && part.type === "text" && typeof part.text === "string" ? [part.text] : [];
  });
}
