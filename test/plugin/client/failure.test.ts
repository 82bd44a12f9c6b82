import { expect, test } from "vitest";
import { nameRequest, withoutRequest } from "../../../src/plugin/client/failure.ts";

test.each([
  ["The session has expired.", "The session has expired (GET /a/{token}).", "The session has expired."],
  ["HTTP 500", "HTTP 500 (GET /a/{token}).", "HTTP 500."],
  ["Who are you?", "Who are you? (GET /a/{token}).", "Who are you?"],
  ["Stop!", "Stop! (GET /a/{token}).", "Stop!"],
  ["It goes on…", "It goes on… (GET /a/{token}).", "It goes on…"],
  ["Wait...", "Wait... (GET /a/{token}).", "Wait..."],
  ["Not found.\n", "Not found (GET /a/{token}).", "Not found."],
])("%j stands before its request, and can be had without it", (sentence, named, alone) => {
  expect(nameRequest(sentence, "GET /a/{token}")).toBe(named);
  expect(withoutRequest(named)).toBe(alone);
});

test("a message without a request stays as it is", () => {
  expect(withoutRequest("Paired (at last).")).toBe("Paired (at last).");
});
