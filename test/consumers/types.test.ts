import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readFences } from "../docs/read-page.ts";
import { installPacked } from "../package/install-packed.ts";
import { runCommand } from "../package/run-command.ts";
import { COMPILERS, createConsumer, type Peers } from "./consumer.ts";
import { WITH_CORE, WITH_PEERS, WITHOUT_PEERS } from "./programs.ts";

const PROGRAMS: Readonly<Record<Peers, string>> = {
  "no peers": WITHOUT_PEERS,
  "core 1.1 alone": WITH_CORE,
  "oldest peers": WITH_PEERS,
  "newest peers": WITH_PEERS,
};
const MODULES: Readonly<Record<string, readonly string[]>> = {
  nodenext: ["--module", "nodenext"],
  bundler: ["--module", "preserve", "--moduleResolution", "bundler"],
};

let folder: string;
const consumers = new Map<Peers, string>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-types-"));
  const installed = await installPacked(folder);
  for (const peers of ["no peers", "core 1.1 alone", "oldest peers", "newest peers"] as const) {
    const consumer = await createConsumer(installed, peers);
    await writeFile(join(consumer, "use.ts"), PROGRAMS[peers]);
    consumers.set(peers, consumer);
  }
}, 240_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Compiles a consumer's programs, strictly and with every library checked. Returns what the compiler says. */
async function compile(version: string, peers: Peers, module: string, files = ["use.ts"]): Promise<string> {
  // LangChain's own declarations do not pass the stricter reading of optional properties.
  const strict = peers === "no peers" ? ["--strict", "--exactOptionalPropertyTypes"] : ["--strict"];
  const flags = ["--noEmit", ...strict, "--skipLibCheck", "false"];
  const target = ["--target", "es2024", "--types", "node", ...(MODULES[module] ?? [])];
  const { stdout, stderr } = await runCommand(
    process.execPath,
    [COMPILERS[version] ?? "", ...flags, ...target, ...files],
    consumers.get(peers) ?? "",
  );
  return stdout + stderr;
}

describe("declarations, libraries checked", () => {
  // Every compiler meets both ways of finding modules and both ends of the peers' ranges.
  test.each([
    ["5.9", "newest peers", "nodenext"],
    ["5.9", "oldest peers", "bundler"],
    ["6", "newest peers", "bundler"],
    ["6", "oldest peers", "nodenext"],
    ["7", "newest peers", "nodenext"],
    ["7", "oldest peers", "bundler"],
    ["7", "core 1.1 alone", "nodenext"],
    ["7", "no peers", "nodenext"],
  ] as const)(
    "compile with TypeScript %s, %s, %s",
    async (version, peers, module) => {
      expect(await compile(version, peers, module)).toBe("");
    },
    240_000,
  );

  test("of ./langchain are an error that names the peer where it is not installed", async () => {
    const consumer = consumers.get("no peers") ?? "";
    await writeFile(join(consumer, "langchain.ts"), WITH_CORE);
    const said = await compile("7", "no peers", "nodenext", ["langchain.ts"]);
    expect(said).toContain("'@langchain/core/tools'");
    expect(said).not.toContain("'langchain'");
  }, 240_000);
});

const PAGES = ["docs/agent-sdks.md", "docs/langchain.md", "docs/other-runtimes.md"];

test.each(["nodenext", "bundler"])(
  "the programs of the pages compile with TypeScript 7, %s",
  async (module) => {
    const consumer = consumers.get("newest peers") ?? "";
    const blocks = PAGES.flatMap(readFences).filter(({ language }) => language === "ts");
    expect(new Set(blocks.map(({ name }) => name.split(":")[0]))).toEqual(new Set(PAGES));
    const files = blocks.map((_block, index) => `block-${index}.ts`);
    for (const [index, { code }] of blocks.entries()) await writeFile(join(consumer, files[index] ?? ""), code);
    expect(await compile("7", "newest peers", module, files)).toBe("");
  },
  240_000,
);
