import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ActionContext } from "../../../../src/service/integrations/integration.ts";
import { type CallFolder, openCallFolder } from "../../../../src/service/sources/piece/call-folder.ts";

const context: ActionContext = {
  signal: new AbortController().signal,
  now: () => 0,
  connection: { id: "con_1", integration: "parcel", label: "Parcel", settings: {}, scopes: [] },
  file: () => {
    throw new Error("No file was sent.");
  },
};

let folder: CallFolder;
beforeEach(async () => {
  folder = await openCallFolder();
});
afterEach(() => folder.remove());

async function keepLabel(): Promise<string> {
  await writeFile(join(folder.path, "out-1"), "label");
  return folder.keep({ file: "out-1", name: "label.pdf" }, context);
}

const kept = { name: "label.pdf", mimetype: "application/pdf", size: 5 };

test("texts that stand for files are named wherever they are in a result", async () => {
  const text = await keepLabel();
  expect(folder.nameFiles({ a: [text, "svc-file:9:x"], b: { c: text } })).toEqual({
    a: [kept, "svc-file:9:x"],
    b: { c: kept },
  });
});

test.each([
  ["lists", "[", "]"],
  ["objects", '{"a":', "}"],
])("a result of %s without end is given as it is", async (_what, open, close) => {
  const text = await keepLabel();
  const far = JSON.parse(`${open.repeat(200_000)}1${close.repeat(200_000)}`);
  const named = folder.nameFiles({ near: text, far }) as { near: unknown };
  expect(named.near).toEqual(kept);
});
