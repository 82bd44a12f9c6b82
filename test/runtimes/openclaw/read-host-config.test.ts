import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { parseLenientJson } from "../../../src/runtimes/openclaw/parse-lenient-json.ts";
import { readHostConfig } from "../../../src/runtimes/openclaw/read-host-config.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-host-config-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ["JSON as the host writes it", '{"a": [1, {"b": "c"}]}', { a: [1, { b: "c" }] }],
  ["comments", '{ // one\n "a": 1, /* two\n lines */ "b": "x // no /* comment" }', { a: 1, b: "x // no /* comment" }],
  ["trailing commas", '{"a": [1, 2,], "b": {"c": true,},}', { a: [1, 2], b: { c: true } }],
  [
    "keys without quotes",
    "{tools: {also_Allow: null}, $include: '/x'}",
    { tools: { also_Allow: null }, $include: "/x" },
  ],
  ["single quotes", `{'it\\'s': 'say "hi", it\\'s fine'}`, { "it's": `say "hi", it's fine` }],
  ["numbers and signs in texts", '{"a": "1,}", b: -1.5e3}', { a: "1,}", b: -1500 }],
  ["a byte order mark", "\ufeff{a: 1}", { a: 1 }],
])("reads %s", (_what, text, value) => {
  expect(parseLenientJson(text)).toEqual(value);
});

test.each(["", "{", "{a: }", "{a: b}", "nonsense", '{"a": "unclosed}', "{'a: 1}", "{/* unclosed }"])(
  "does not guess at %j",
  (text) => {
    expect(parseLenientJson(text)).toBeUndefined();
  },
);

test("tells a missing file from one that cannot be used", async () => {
  const file = join(folder, "openclaw.json");
  expect(await readHostConfig(file)).toEqual({ kind: "missing" });
  writeFileSync(file, "[1]");
  expect(await readHostConfig(file)).toMatchObject({ kind: "unreadable" });
  writeFileSync(file, "{tools: {$include: './tools.json'}}");
  expect(await readHostConfig(file)).toMatchObject({ kind: "read", includesOthers: true });
  expect(await readHostConfig(folder)).toMatchObject({ kind: "unreadable", reason: expect.stringContaining("EISDIR") });
});
