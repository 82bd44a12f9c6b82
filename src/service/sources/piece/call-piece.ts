import type { ActionContext } from "../../integrations/integration.ts";
import type { StoredAction } from "../source-content.ts";
import { convertProperties } from "./convert-property.ts";
import { pieceCallSchema } from "./piece-definition.ts";
import { propertiesSchema } from "./piece-description.ts";
import { createPieceError, createPieceTimeout } from "./piece-failure.ts";
import { cleanWords } from "./piece-words.ts";
import { buildAuth } from "./plan-auth.ts";
import { type PieceParts, runPiece } from "./run-piece.ts";

/** Shorter than the service's own limit, so that a write that is ended here counts as in doubt. Milliseconds. */
const CALL_MS = 50_000;

/** One call of an action. */
interface PieceCallParts extends PieceParts {
  readonly action: StoredAction;
  readonly args: Readonly<Record<string, unknown>>;
  readonly context: ActionContext;
  /** Default 50,000. */
  readonly limitMs?: number;
}

/** Carries one call out in a process of its own. Throws ServiceError; rejects with the context's signal. */
export async function callPiece(parts: PieceCallParts): Promise<unknown> {
  const { source, action, context } = parts;
  const limit = AbortSignal.timeout(parts.limitMs ?? CALL_MS);
  try {
    return await converse(parts, AbortSignal.any([context.signal, limit]));
  } catch (error) {
    if (!limit.aborted || context.signal.aborted) throw error;
    throw createPieceTimeout({ app: source.name, slug: source.slug, action, now: context.now() });
  }
}

function converse(parts: PieceCallParts, signal: AbortSignal): Promise<unknown> {
  const { source, definition, action, args, context } = parts;
  const call = pieceCallSchema.parse(action.call);
  const { settings } = context.connection;
  return runPiece(
    parts,
    {
      signal,
      keep: (folder, file) => folder.keep(file, context),
      prepare: async (folder) => ({
        do: call.do,
        action: call.action,
        property: call.do === "options" ? call.property : "",
        auth: buildAuth(definition.auth, settings),
        args: await folder.takeFiles(action.inputSchema, args, context),
      }),
    },
    (answer, folder) => {
      if (answer.type === "done") return readResult(call.do, folder.nameFiles(JSON.parse(answer.json)));
      const told =
        "words" in answer ? { ...answer, words: cleanWords(answer.words, definition.auth, settings) } : answer;
      throw createPieceError(told, { app: source.name, slug: source.slug, action, now: context.now() });
    },
  );
}

function readResult(kind: "run" | "options", value: unknown): unknown {
  if (kind === "run" || typeof value !== "object" || value === null || !("fields" in value)) return value;
  const fields = propertiesSchema.parse(value.fields);
  return { fields: convertProperties(fields, { note: () => {}, describeLookup: () => undefined }) };
}
