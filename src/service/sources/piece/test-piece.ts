import { ServiceError } from "../../service-error.ts";
import { cleanWords } from "./piece-words.ts";
import { buildAuth } from "./plan-auth.ts";
import { type PieceParts, runPiece } from "./run-piece.ts";
import type { PieceAnswer } from "./run-piece-child.ts";

/**
 * Lets a piece check, in a process of its own, whether it can sign in with these settings; one without a check takes
 * all. Throws ServiceError 422 `integration_misconfigured` in the piece's words; rejects with the signal's reason.
 */
export async function testPiece(
  parts: PieceParts,
  settings: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<void> {
  const { auth } = parts.definition;
  if (auth.type === "NONE") return;
  const task = { do: "validate", way: auth.type, auth: buildAuth(auth, settings) } as const;
  const answer = await runPiece(parts, { signal, prepare: () => task }, (told) => told);
  if (answer.type === "done") return;
  const words = cleanWords("words" in answer ? answer.words : "", auth, settings);
  throw refuse(parts, describe(answer, words));
}

function describe(answer: PieceAnswer, words: string): string {
  const said = words === "" ? "." : `: ${words}`;
  if (answer.type !== "failed") return `It cannot be run${said}`;
  const { kind, status = 0 } = answer;
  if (kind === "unreachable") return `Its provider cannot be reached${said}`;
  if (kind === "lost" || kind === "garbage" || status === 429 || status >= 500)
    return `Its provider could not be asked. Try again later${said}`;
  if (kind === "blocked") return `It may not reach this address${said}`;
  if (kind === "broken") return `It cannot be run${said}`;
  return `It was refused${said}`;
}

function refuse({ source, definition }: PieceParts, why: string): ServiceError {
  const secrets = definition.auth.fields.filter(({ type }) => type === "SECRET_TEXT");
  const [only] = secrets.length === 1 ? secrets : [];
  return new ServiceError(422, "integration_misconfigured", `${source.name}: ${why}`, {
    type: "configuration",
    hint: "The owner corrects it in the dashboard: Connections, Reconnect.",
    ...(only !== undefined && { extra: { setting: only.setting } }),
  });
}
