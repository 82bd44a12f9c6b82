import { expect, test } from "vitest";
import { createProviderError, type ProviderFailure, readRetryAfter } from "../../../src/apps/port/provider-failure.ts";
import { toCanonicalCode } from "../../../src/service/executions/summarise-outcome.ts";

const READ = { level: "read", idempotent: true } as const;
const WRITE = { level: "write", idempotent: false } as const;
const status = (code: number): ProviderFailure => ({ kind: "status", status: code });

const TABLE: readonly [failure: ProviderFailure, action: typeof READ | typeof WRITE, answer: string][] = [
  [status(400), READ, "400 invalid_arguments validation_error"],
  [status(422), WRITE, "400 invalid_arguments validation_error"],
  [status(401), READ, "401 needs_reauth reauth_required"],
  [status(403), WRITE, "403 forbidden forbidden"],
  [status(404), READ, "404 not_found execution_failed"],
  [status(410), WRITE, "404 not_found execution_failed"],
  [status(409), WRITE, "409 conflict execution_failed"],
  [status(429), WRITE, "429 rate_limited rate_limited retryable"],
  [status(302), READ, "500 provider_error execution_failed"],
  [status(303), WRITE, "500 outcome_unknown execution_failed"],
  [status(307), WRITE, "500 provider_error execution_failed"],
  [status(500), READ, "503 provider_unavailable execution_failed retryable"],
  [status(502), WRITE, "500 outcome_unknown execution_failed"],
  [status(503), WRITE, "503 provider_unavailable execution_failed retryable"],
  [{ kind: "unreachable" }, WRITE, "503 provider_unavailable execution_failed retryable"],
  [{ kind: "lost" }, READ, "503 provider_unavailable execution_failed retryable"],
  [{ kind: "lost" }, WRITE, "500 outcome_unknown execution_failed"],
  [{ kind: "garbage" }, READ, "500 provider_error execution_failed"],
  [{ kind: "garbage" }, WRITE, "500 outcome_unknown execution_failed"],
];

test.each(TABLE)("%o of a %o becomes %s", (failure, action, expected) => {
  const error = createProviderError(failure, { app: "Tracker", action });
  const facts = [error.status, error.code, toCanonicalCode(error), ...(error.options.retryable ? ["retryable"] : [])];
  expect(facts.join(" ")).toBe(expected);
});

test("the provider's words are kept in one short line", () => {
  const message = `Rate\nlimited ${"x".repeat(900)}`;
  const error = createProviderError(
    { kind: "status", status: 429, message, retryAfterSeconds: 7 },
    { app: "Tracker", action: READ },
  );
  expect(error.message).toMatch(/^Tracker answered 429: Rate limited x+$/);
  expect(error.message.length).toBeLessThan(340);
  expect(error.options.retryAfterSeconds).toBe(7);
});

test("Retry-After is read as seconds or as a date", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  expect(readRetryAfter("12", now)).toBe(12);
  expect(readRetryAfter("Thu, 01 Jan 2026 00:00:30 GMT", now)).toBe(30);
  expect(readRetryAfter("Wed, 31 Dec 2025 23:00:00 GMT", now)).toBe(0);
  for (const text of ["", "soon", "-1", "1.5", null, undefined]) expect(readRetryAfter(text, now)).toBeUndefined();
});
