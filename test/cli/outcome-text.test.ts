import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { showOutcome } from "../../src/cli/outcome-text.ts";
import { createTerminal } from "../../src/cli/terminal.ts";
import { createOutcome, type OutcomeDetails, type OutcomeStatus } from "../../src/plugin/calls/outcome.ts";

function print(status: OutcomeStatus, details: OutcomeDetails, hasKeyInEnvironment = false): string {
  const stdout = new PassThrough() as unknown as NodeJS.WriteStream;
  const terminal = createTerminal({ stdout, stderr: stdout, env: {}, json: false });
  showOutcome(terminal, createOutcome(status, "probe_write", details), { hasKeyInEnvironment });
  return String(stdout.read()).trim();
}

test.each<[string, OutcomeStatus, OutcomeDetails, string]>([
  [
    "an unknown outcome once",
    "unknown",
    { code: "outcome_unknown", message: "It is not known whether this call took effect." },
    "It is not known whether this call took effect.",
  ],
  [
    "how long to wait",
    "failed",
    { code: "rate_limited", message: "Too many.", hint: "Wait before calling again.", retryAfterMs: 86_400_000 },
    "Not done (failed). Too many.\nNext: the service asks to wait 24 hours.",
  ],
  [
    "whom to pay",
    "failed",
    { code: "billing", message: "Used up.", hint: "the user must settle this, not you" },
    "Not done (failed). Used up.\nNext: settle the billing limit with the service.",
  ],
  [
    "how to sign in",
    "needs_connection",
    { code: "needs_reauth", message: "Sign in.", connectUrl: "https://svc.example/c", hint: "Ask the user" },
    "Not done (needs_connection). Sign in.\nConnect it here: https://svc.example/c\nNext: open the link, sign in, and run the command again.",
  ],
  [
    "the accounts to choose from",
    "needs_connection",
    { code: "ambiguous_connection", message: "Several.", choices: [{ id: "61", label: "Work" }] },
    "Not done (needs_connection). Several.\n  --connection 61   Work\nNext: run the command again with --connection and one of these ids.",
  ],
  ...[
    "Do not make this call again unless the user asks for it.",
    "Read the rest with svc_read_result.",
    "Find the real value first, and send the call again.",
    "Tell them what failed.",
  ].map((hint): [string, OutcomeStatus, OutcomeDetails, string] => [
    `no hint for a model: ${hint}`,
    "failed",
    { code: "some_code", message: "It failed.", hint },
    "Not done (failed). It failed.",
  ]),
  [
    "a hint of an app for people",
    "failed",
    { code: "some_code", message: "It failed.", hint: "Give the folder another name." },
    "Not done (failed). It failed.\nNext: Give the folder another name.",
  ],
  [
    "a refusal without the words for a model",
    "declined",
    { code: "declined", message: "The user declined this call." },
    "Declined. Nothing was run.",
  ],
  [
    "the hint of an app about an argument",
    "failed",
    {
      code: "invalid_arguments",
      message: "input.url: the URL leads to a web page.",
      hint: "Its feeds are: https://x.org/rss",
    },
    "Not done (failed). input.url: the URL leads to a web page.\nNext: Its feeds are: https://x.org/rss",
  ],
  [
    "why a call was declined",
    "declined",
    { code: "declined", message: "The user declined this call. Nothing was run. Reason: Not on a Sunday." },
    "Declined. Nothing was run. Reason: Not on a Sunday.",
  ],
  [
    "that a failure may pass",
    "failed",
    { code: "provider_unavailable", message: "The provider is unavailable.", retryable: true },
    "Not done (failed). The provider is unavailable.\nNext: try again later.",
  ],
])("a person is told %s", (_name, status, details, text) => {
  expect(print(status, details)).toBe(text);
});

test("a refused key is blamed on where it came from", () => {
  const refused = { code: "unauthorized", message: "Unauthorized", hint: "Pair it again" };
  expect(print("failed", refused)).toContain('"svc pair --again"');
  expect(print("failed", refused, true)).toContain("SVC_API_KEY");
});
