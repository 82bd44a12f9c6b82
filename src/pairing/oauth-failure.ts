import * as oauth from "oauth4webapi";
import { redact } from "../client/redact.ts";
import { toPlainText } from "../wire/plain-text.ts";

/** Longest piece of foreign text in a message. */
const MAX_WORDS = 200;

/** Why an OAuth request failed, in one line without secrets: the server's words, or what the library found wrong. */
export function explainOAuthFailure(error: unknown, secrets: readonly string[] = []): string {
  return toPlainText(redact(readWords(error), secrets), { max: MAX_WORDS });
}

function readWords(error: unknown): string {
  if (error instanceof oauth.ResponseBodyError || error instanceof oauth.AuthorizationResponseError) {
    const { error: code, error_description: words } = error;
    return words === undefined ? code : `${code}: ${words}`;
  }
  if (error instanceof oauth.WWWAuthenticateChallengeError) return `HTTP ${error.status}`;
  if (error instanceof oauth.OperationProcessingError) return readMismatch(error) ?? error.message;
  return error instanceof Error ? error.message : "an answer without a reason";
}

/** Two values that had to be equal say more than that they were not. */
function readMismatch({ code, cause }: oauth.OperationProcessingError): string | undefined {
  if (code !== oauth.JSON_ATTRIBUTE_COMPARISON || typeof cause !== "object" || cause === null) return undefined;
  if (!("attribute" in cause) || !("expected" in cause) || !("body" in cause)) return undefined;
  const { attribute, expected, body } = cause;
  const found = new Map(Object.entries(typeof body === "object" ? { ...body } : {})).get(String(attribute));
  return `${String(attribute)} is "${String(found)}" instead of "${String(expected)}"`;
}
