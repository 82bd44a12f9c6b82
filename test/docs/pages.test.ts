import { existsSync, readdirSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { builtInIntegrations } from "../../src/apps/built-in.ts";
import { writeJsonError } from "../../src/cli/json-errors.ts";
import { describeProgram } from "../../src/cli/mcp-client-files.ts";
import { describeOwnProgram } from "../../src/cli/own-program.ts";
import { readJournalRecord } from "../../src/plugin/calls/journal/journal-record.ts";
import { locateFiles } from "../../src/plugin/media/locate/locate-files.ts";
import { createCatalog } from "../../src/service/catalog/catalog.ts";
import { checkDefinition } from "../../src/service/flows/own/check-definition.ts";
import { PACKAGE_ROOT, readJson } from "../package/read-package.ts";
import { checkMermaid } from "./check-mermaid.ts";
import { judgeCommandLine, listCommands } from "./list-commands.ts";
import { readFences, readPage } from "./read-page.ts";

/** What holds for every page: links lead somewhere, pictures can be drawn, commands exist, and each block has its test. */

const DOCS = readdirSync(join(PACKAGE_ROOT, "docs")).filter((name) => name.endsWith(".md"));
const ROOT_PAGES = ["README.md", "SECURITY.md", "CHANGELOG.md", "AGENTS.md"].filter((name) =>
  existsSync(join(PACKAGE_ROOT, name)),
);
const PAGES = [...DOCS.map((name) => `docs/${name}`), ...ROOT_PAGES];

/** The test that runs or compares the blocks of a page. */
const TESTED_BY: Readonly<Record<string, string>> = {
  "README.md": "test/package/pack.long.test.ts",
  "docs/agent-sdks.md": "test/docs/guides.test.ts",
  "docs/approvals.md": "test/docs/guides.test.ts",
  "docs/concepts.md": "test/docs/guides.test.ts",
  "docs/files.md": "test/docs/guides.test.ts",
  "docs/flows.md": "test/docs/guides.test.ts",
  "docs/integrations.md": "test/docs/integrations.test.ts",
  "docs/langchain.md": "test/plugin/runtimes/langchain/guide.test.ts",
  "docs/many-machines.md": "test/docs/postgres/many-machines.test.ts",
  "docs/many-tools.md": "test/docs/guides.test.ts",
  "docs/openclaw.md": "test/docs/openclaw.test.ts",
  "docs/other-runtimes.md": "test/plugin/runtimes/library/host-example.ts",
  "docs/containers.md": "test/docs/containers.test.ts",
  "docs/self-hosting.md": "test/docs/self-hosting.test.ts",
  "docs/signing-in.md": "test/package/pack.long.test.ts",
  "docs/testing.md": "test/docs/guides.test.ts",
  "docs/undo.md": "test/docs/undo.test.ts",
};

/** Blocks that are looked at here, or by people only. */
const NEEDS_NO_TEST = ["json", "mermaid", "text"];

/** Text of a page without its fenced blocks. */
const readProse = (page: string) => readPage(page).replaceAll(/^( *)```.*?^\1```$/gms, "");

/** True for a block of nothing but scripts of this package, which the scripts' own tests run. */
function namesScripts(code: string): boolean {
  const { scripts } = readJson("package.json") as { scripts: Record<string, string> };
  const names = code
    .trim()
    .split("\n")
    .map((line) => /^npm (?:run )?([a-z:-]+)(?: |$)/.exec(line)?.[1] ?? "");
  return names.every((name) => name === "ci" || Object.hasOwn(scripts, name));
}

/** The anchor of a heading as GitHub makes it. */
const toAnchor = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

const listAnchors = (page: string) =>
  [...readProse(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => toAnchor(heading));

describe.each(PAGES)("%s", (page) => {
  test("has links that lead somewhere", () => {
    const links = [...readProse(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
    const wrong = links.filter((target) => {
      if (/^https?:/.test(target)) return false;
      const [path = "", anchor] = target.split("#");
      const file = path === "" ? page : normalize(join(dirname(page), path));
      if (!existsSync(join(PACKAGE_ROOT, file))) return true;
      return anchor !== undefined && !listAnchors(file).includes(anchor);
    });
    expect(wrong).toEqual([]);
  });

  test("names only commands that exist, with flags that they have", () => {
    const program = listCommands();
    const fences = readFences(page).flatMap(({ code }) => code.split("\n"));
    const inFences = fences.flatMap((line) => /^(?:\$ )?svc ([a-z-].*)$/.exec(line)?.[1] ?? []);
    const inline = [...readProse(page).matchAll(/`svc ([a-z-][^`]*)`/g)].map(([, line = ""]) => line);
    const lines = [...inFences, ...inline].map((line) => line.replaceAll(/\s+/g, " "));
    const wrong = lines.flatMap((line) => {
      const problem = judgeCommandLine(program, line);
      return problem === undefined ? [] : [`svc ${line}: ${problem}`];
    });
    expect(wrong).toEqual([]);
  });

  test("has blocks that somebody tests", () => {
    const left = readFences(page).filter(
      ({ language, code }) => !NEEDS_NO_TEST.includes(language) && !namesScripts(code),
    );
    const tester = TESTED_BY[page];
    if (tester === undefined) expect(left.map(({ name }) => name)).toEqual([]);
    else expect(existsSync(join(PACKAGE_ROOT, tester)), tester).toBe(true);
  });
});

describe("the index", () => {
  test("leads to every page", () => {
    const index = readPage("docs/README.md");
    const left = DOCS.filter((name) => name !== "README.md" && !index.includes(`](${name})`));
    expect(left).toEqual([]);
  });
});

describe("pictures", () => {
  const pictures = PAGES.flatMap(readFences).filter(({ language }) => language === "mermaid");

  test.each(pictures)("$name can be drawn", ({ code }) => expect(checkMermaid(code)).toEqual([]));

  test.each([
    "graph TD\n  a --> b",
    "flowchart TD\n  a[text --> b",
    "flowchart TD\n  a -> b",
    "flowchart TD\n  a -- (why) --> b",
    "flowchart TD\n  subgraph one[One]\n  a --> b",
    "flowchart TD\n  a --> end",
    "stateDiagram-v2\n  one -> two",
    "sequenceDiagram\n  A-B: text",
  ])("%j cannot", (code) => expect(checkMermaid(code)).not.toEqual([]));
});

/** The file of docs/signing-in.md. */
function describeExample() {
  const script = "/usr/lib/node_modules/svc-agent-plugin/dist/bin.js";
  const program = describeOwnProgram({ node: "/usr/bin/node", script, env: {} });
  const own = { ...program, args: [...program.args, "--client", "claude-code"] };
  return { mcpServers: { svc: describeProgram({ name: "claude-code" }, own) } };
}

const errorSchema = z.object({ code: z.string(), message: z.string(), hint: z.string(), field: z.string() });

describe("JSON", () => {
  const blocks = PAGES.flatMap(readFences).filter(({ language }) => language === "json");
  const catalog = createCatalog(builtInIntegrations);

  test.each(blocks)("$name is what the code takes", ({ code }) => {
    const value: unknown = JSON.parse(code);
    if (typeof value !== "object" || value === null) throw new Error("It is no object.");
    if ("mcpServers" in value) expect(value).toEqual(describeExample());
    else if ("error" in value) expect(JSON.parse(writeJsonError(errorSchema.parse(value.error)))).toEqual(value);
    else if ("steps" in value) expect(checkDefinition("example", value, catalog)).toHaveProperty("template");
    else if ("file" in value) expect(locateFiles(undefined, { ...value }).files).toHaveLength(1);
    else expect(readJournalRecord(value)).toEqual(value);
  });
});
