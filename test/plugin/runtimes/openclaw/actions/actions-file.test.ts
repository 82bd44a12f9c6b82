import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import {
  type ActionsFile,
  readActions,
  writeActions,
} from "../../../../../src/plugin/runtimes/openclaw/actions/actions-file.ts";
import { expectMode } from "../../../../suites/this-system.ts";

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-actions-"));
  path = join(folder, "deep", "actions.json");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const file: ActionsFile = {
  version: 1,
  principal: "p",
  baseUrl: "https://svc.test",
  syncedAt: "2026-11-20T00:00:00.000Z",
  checkedAt: "2026-11-20T00:00:00.000Z",
  leftOut: 0,
  listed: ["app_read"],
  actions: [
    {
      name: "app_read",
      toolName: "app_read",
      integration: "app",
      effect: "read",
      asksFirst: false,
      description: "Reads.",
      parameters: { type: "object", properties: {} },
      schemaHash: "h",
    },
  ],
};

it("gives back what was written, readable by the user alone", async () => {
  expect(readActions(path)).toBeUndefined();
  await writeActions(path, file);
  expect(readActions(path)).toEqual(file);
  expectMode(path, 0o600);
});

it("parses a file once until it changes", async () => {
  await writeActions(path, file);
  const first = readActions(path);
  expect(readActions(path)).toBe(first);
  await writeActions(path, { ...file, leftOut: 2 });
  expect(readActions(path)).toMatchObject({ leftOut: 2 });
});

it("notices a new file of the same size and time", async () => {
  await writeActions(path, file);
  utimesSync(path, 1_000, 1_000);
  readActions(path);
  await writeActions(path, { ...file, leftOut: 7 });
  utimesSync(path, 1_000, 1_000);
  expect(readActions(path)).toMatchObject({ leftOut: 7 });
});

const damages: [string, unknown][] = [
  ["text that is no JSON", "{"],
  ["another version", { ...file, version: 2 }],
  ["no account", { ...file, principal: undefined }],
  ["a name the host would refuse", { ...file, actions: [{ ...file.actions[0], name: "a b" }] }],
  ["an effect nobody knows", { ...file, actions: [{ ...file.actions[0], effect: "harmless" }] }],
  ["a tool without a schema", { ...file, actions: [{ ...file.actions[0], parameters: null }] }],
  ["changes of another form", { ...file, pending: { at: "x", added: "all" } }],
];

it.each(damages)("uses nothing of a file with %s, and says so once", async (_what, content) => {
  await writeActions(path, file);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  const reasons: string[] = [];
  expect(readActions(path, (reason) => reasons.push(reason))).toBeUndefined();
  expect(readActions(path, (reason) => reasons.push(reason))).toBeUndefined();
  expect(reasons).toHaveLength(1);
});
