import { expect, test } from "vitest";
import { answerError } from "../../../../../src/plugin/runtimes/openclaw/commands/command-answer.ts";
import { missingKey } from "../../../../../src/plugin/runtimes/openclaw/setup/find-key.ts";
import { readEnvironment } from "../../../../../src/plugin/runtimes/openclaw/setup/read-environment.ts";
import { SvcError } from "../../../../../src/shared/errors.ts";

const PAIR = "Pair with: openclaw svc pair in a terminal, or /login svc in a chat.";

test.each([
  ["no key", missingKey(readEnvironment({ OPENCLAW_STATE_DIR: "/state" })), "svc is not paired with an account yet."],
  [
    "a key the service does not accept",
    new SvcError("unauthorized", "The key was revoked.", { hint: "Pair this device again." }),
    "The key was revoked.",
  ],
])("tells the user of %s how to pair, and not what a model is told", (_what, error, message) => {
  expect(answerError(error)).toMatchObject({ exit: 3, text: `${message} ${PAIR}` });
});

test("keeps the next step of every other error", () => {
  const other = new SvcError("credentials_missing", "It was issued elsewhere.", { hint: "Set baseUrl back." });
  expect(answerError(other)).toMatchObject({ exit: 3, text: "It was issued elsewhere. Set baseUrl back." });
  expect(answerError(new Error("Broken."))).toMatchObject({ exit: 1, text: "Broken." });
});
