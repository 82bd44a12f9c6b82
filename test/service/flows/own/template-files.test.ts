import { mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { builtInIntegrations } from "../../../../src/apps/built-in.ts";
import { createCatalog } from "../../../../src/service/catalog/catalog.ts";
import {
  describeFileProblem,
  openTemplateFiles,
  type TemplateFiles,
} from "../../../../src/service/flows/own/template-files.ts";

const good = {
  name: "Look",
  description: "Looks.",
  steps: [{ key: "look", call: "mail_search", arguments: { query: "is:unread" } }],
};

let folder: string;
let logged: string[];
let files: TemplateFiles;
/** Changes of files come with other times, however quick this test is. */
let minute: number;
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), "svc-templates-")), "templates");
  logged = [];
  minute = 0;
  files = openTemplateFiles({
    folder,
    catalog: createCatalog(builtInIntegrations),
    taken: ["notes_reminder"],
    log: ({ level, message }) => logged.push(`${level}: ${message}`),
  });
});
afterEach(() => rm(join(folder, ".."), { recursive: true, force: true }));

async function write(name: string, content: unknown): Promise<void> {
  const path = join(folder, name);
  await mkdir(folder, { recursive: true });
  await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
  minute += 1;
  await utimes(path, minute * 60, minute * 60);
}
const keys = () => files.list().map(({ key }) => key);
const problems = () => files.problems().map(describeFileProblem);

test("a folder that is not there has no templates", () => {
  expect([keys(), problems(), logged]).toEqual([[], [], []]);
});

test("files count as they are at each look, and a mistake is logged once", async () => {
  await write("look.json", good);
  await write("notes.txt", "not for us");
  expect([keys(), problems()]).toEqual([["look"], []]);
  await write("look.json", { ...good, name: "Look again" });
  expect(files.list()[0]?.name).toBe("Look again");
  await write("look.json", { ...good, steps: [{ key: "look", call: "mail_look" }] });
  const mistake = 'look.json: steps[0].call names no tool of this service: "mail_look"; see svc tools, or add its app.';
  expect([keys(), problems(), keys(), problems()]).toEqual([[], [mistake], [], [mistake]]);
  expect(logged).toEqual([`warn: A flow template cannot be used. ${mistake}`]);
  await write("other.json", good);
  expect([keys(), logged.length]).toEqual([["other"], 1]);
  await rm(join(folder, "look.json"));
  expect([keys(), problems()]).toEqual([["other"], []]);
});

test.each([
  ["Look.json", good, "Look.json: the file must be named with lower-case letters"],
  ["notes_reminder.json", good, "notes_reminder.json: the file has the name of a template of the service"],
  ["look.json", "{", "look.json: the file is no JSON"],
  ["look.json", JSON.stringify({ ...good, x: "x".repeat(70_000) }), "look.json: the file has 7"],
])("%s is refused", async (name, content, problem) => {
  await write(name, content);
  expect(keys()).toEqual([]);
  expect(problems()).toEqual([expect.stringContaining(problem)]);
});

test("a file in place of the folder is told", async () => {
  await writeFile(folder, "");
  expect([keys(), problems()]).toEqual([[], ["templates: the file must be a folder that the service may read."]]);
});

test("a folder that is called like a template is none", async () => {
  await mkdir(join(folder, "look.json"), { recursive: true });
  expect([keys(), problems()]).toEqual([[], []]);
});
