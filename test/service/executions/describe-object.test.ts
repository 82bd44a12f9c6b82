import { expect, test } from "vitest";
import { describeObject, parseBeginning } from "../../../src/service/executions/describe-object.ts";

const file = { name: "quote.pdf", mimetype: "application/pdf", s3key: "blob_1" };

test.each<[string, unknown, string | undefined]>([
  ["a page", { body: "long text", title: "Terrace", parent: "Garden" }, "Terrace · Garden"],
  [
    "a mail to several",
    { to: ["ana@example.org", { address: "ben@example.org" }, "c@example.org"], subject: "The quote", text: "Hi" },
    "The quote · ana@example.org, ben@example.org and 1 more",
  ],
  ["a file", { file, folder: "Quotes" }, "quote.pdf · Quotes"],
  ["a path", { path: "Quotes/terrace.txt", limit: 5 }, "Quotes/terrace.txt"],
  ["a move", { path: "a.txt", new_path: "b.txt" }, "a.txt · b.txt"],
  ["a search", { query: "is:unread", limit: 20, sort: "date" }, "is:unread"],
  ["a period", { from: "2026-11-01", to: "2026-12-31", zone: "UTC" }, "2026-11-01 to 2026-12-31"],
  [
    "a search in a period",
    { from: "2026-11-01", to: "2026-12-31", query: "dentist" },
    "dentist · 2026-11-01 to 2026-12-31",
  ],
  ["an API with a body", { projectId: "p1", body: { issueTitle: "Broken door" } }, "Broken door · p1"],
  ["one with ids alone", { issue_id: 17, state: "closed" }, "17"],
  ["one with names of its own", { owner: "octo" }, "octo"],
  ["an address", { url: "https://ana:pw@example.org/a?token=s3cret#x" }, "example.org/a"],
  [
    "the address of a webhook",
    { url: "https://hooks.example.org/services/T024/AbCdEf123456789012345678" },
    "hooks.example.org/services/T024/…",
  ],
  ["a credential under a good place", { body: { token: "s3cret-token" }, password: "s3cret" }, undefined],
  ["what was hidden when it was written", { subject: "[hidden]" }, undefined],
  ["numbers that name nothing", { limit: 5, offset: 10 }, undefined],
  ["nothing", {}, undefined],
  ["no object", "text", undefined],
])("%s is named by its arguments", (_name, args, expected) => {
  expect(describeObject(args)).toBe(expected);
});

test("a name is one short line in which nothing is hidden", () => {
  const line = describeObject({ title: `a\u202eb\n${"x".repeat(10_000)}`, to: `\u200b${"y".repeat(500)}` }) ?? "";
  expect(line.startsWith("a\\u202eb x")).toBe(true);
  expect(line.length).toBeLessThan(170);
  expect(line).toContain("… · \\u200by");
});

test("of long arguments the members at their beginning are read", () => {
  const json = JSON.stringify({ title: 'a "quote", and {more}', tags: ["x", "y"], body: "z".repeat(9000), to: "late" });
  expect(parseBeginning(json)).toEqual(JSON.parse(json));
  expect(parseBeginning(json.slice(0, 4000))).toEqual({ title: 'a "quote", and {more}', tags: ["x", "y"] });
  for (const json of ['{"body":"zzz', "{", "", '"te', "[1,2", '{"a":1'])
    expect(describeObject(parseBeginning(json))).toBe(undefined);
});
