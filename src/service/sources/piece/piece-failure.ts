import { createProviderError, readRetryAfter } from "../../integrations/provider-failure.ts";
import { ServiceError } from "../../service-error.ts";
import type { StoredAction } from "../source-content.ts";
import type { PieceFailure } from "./piece-messages.ts";
import type { PieceAnswer } from "./run-piece-child.ts";

/** Whose failure it is. */
interface FailedCall {
  readonly app: string;
  readonly slug: string;
  readonly action: StoredAction;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A call had to be ended because it took too long. */
export function createPieceTimeout(call: FailedCall): ServiceError {
  return createProviderError({ kind: "lost", message: "it took too long and was ended." }, call);
}

/** What a failed call of a piece comes to for its caller. */
export function createPieceError(answer: Exclude<PieceAnswer, { type: "done" }>, call: FailedCall): ServiceError {
  const { app, action } = call;
  const isRepeatable = action.level === "read" || action.idempotent;
  if (answer.type !== "failed") {
    const words = answer.type === "died" ? answer.words : "It gave the wrong answer.";
    return isRepeatable ? fail(`${app}: ${words}`) : createProviderError({ kind: "lost", message: words }, call);
  }
  const words = answer.words.replaceAll(/\s+/g, " ").trim();
  if (answer.mayHaveActed && !isRepeatable) {
    return new ServiceError(
      500,
      "outcome_unknown",
      `${app} failed after a part of the work may have been done: ${words}`,
      {
        type: "provider",
        hint: "Check with a read what has taken effect before sending it again.",
      },
    );
  }
  return fromFailure({ ...answer, words }, call);
}

function fromFailure({ kind, words, status, retryAfter }: PieceFailure, call: FailedCall): ServiceError {
  const { app, slug, now } = call;
  switch (kind) {
    case "status":
      return createProviderError(
        { kind, status: status ?? 500, message: words, retryAfterSeconds: readRetryAfter(retryAfter, now) },
        call,
      );
    case "garbage":
    case "unreachable":
    case "lost":
      return createProviderError({ kind, message: words }, call);
    case "own":
      return fail(`${app}: ${words || "It failed without saying why."}`);
    case "unsupported":
      return new ServiceError(422, "unsupported_operation", `${app}: ${words}`, {
        type: "provider",
        hint: "Use another action.",
      });
    case "blocked":
      return new ServiceError(422, "unsupported_operation", `${app} may not reach this address: ${words}`, {
        type: "configuration",
        hint: `Only the owner can allow a private network, with "svc add piece … --app ${slug} --replace --private".`,
      });
    case "broken":
      return new ServiceError(422, "integration_misconfigured", `${app} cannot be run: ${words}`, {
        type: "configuration",
        hint: 'The owner adds it again with "svc add piece".',
      });
  }
}

function fail(message: string): ServiceError {
  return new ServiceError(500, "execution_failed", message, { type: "provider" });
}
