import { readdirSync, readFileSync } from "node:fs";
import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { findCardWait } from "../../src/plugin/runtimes/openclaw/ask/human-channel.ts";
import { addCliCommands } from "../../src/plugin/runtimes/openclaw/commands/cli-commands.ts";
import type { CliCall } from "../../src/plugin/runtimes/openclaw/commands/command-answer.ts";
import { STATIC_DEFINITIONS } from "../../src/plugin/runtimes/openclaw/translate-tool.ts";
import { OPENCLAW_PACKAGE } from "../package/pack-for-openclaw.ts";
import { readJson, readPackage } from "../package/read-package.ts";

/** The guide for OpenClaw names only commands, settings, tools and messages that exist. The suite of the host runs them. */

const ROOT = new URL("../../", import.meta.url);
const GUIDE = readFileSync(new URL("docs/openclaw.md", ROOT), "utf8");
const SHELL = [...GUIDE.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, code = ""]) => code.trim().split("\n"));

/** Subcommands of `openclaw svc` with their flags. */
function listCommands(): Map<string, readonly string[]> {
  const program = new Command("openclaw");
  addCliCommands(program, {} as CliCall);
  const commands = program.commands.flatMap((svc) => svc.commands);
  return new Map(commands.map((command) => [command.name(), command.options.map(({ long }) => long ?? "")]));
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly minimum?: number;
  readonly maximum?: number;
}

function findSetting(path: string): Schema | undefined {
  const { configSchema } = readJson("openclaw.plugin.json") as { configSchema: Schema };
  return path.split(".").reduce<Schema | undefined>((schema, name) => schema?.properties?.[name], configSchema);
}

function readSources(): string {
  const folder = new URL("src/", ROOT);
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"));
  return files.map((path) => readFileSync(new URL(path, folder), "utf8")).join("\n");
}

describe("docs/openclaw.md", () => {
  const commands = listCommands();

  test("names every subcommand, and no other", () => {
    const table = [...GUIDE.matchAll(/^\| `openclaw svc ([a-z]+)/gm)].map(([, name = ""]) => name);
    expect(table.sort()).toEqual([...commands.keys()].sort());
    const named = [...GUIDE.matchAll(/(?:openclaw |\/)svc ([a-z]+)/g)].map(([, name = ""]) => name);
    expect(named.filter((name) => !commands.has(name))).toEqual([]);
  });

  test("names only flags of the command they stand beside", () => {
    const rows = [...GUIDE.matchAll(/^\| `openclaw svc ([a-z]+)[^\n]*/gm)];
    for (const [row, name = ""] of rows) {
      for (const [flag] of row.matchAll(/--[a-z-]+/g)) expect(commands.get(name), name).toContain(flag);
    }
    const [, withJson = ""] = GUIDE.match(/^(.*) print JSON with `--json`/m) ?? [];
    const said = [...withJson.matchAll(/`([a-z]+)`/g)].map(([, name = ""]) => name);
    const able = [...commands].filter(([, flags]) => flags.includes("--json")).map(([name]) => name);
    expect(said.sort()).toEqual(able.sort());
  });

  test("sets only settings that exist, within their limits", () => {
    const named = [...GUIDE.matchAll(/plugins\.entries\.svc\.config\.([A-Za-z.]+[A-Za-z])/g)].map(
      ([, path = ""]) => path,
    );
    expect(named.length).toBeGreaterThan(4);
    for (const path of [...named, "approvalSeconds"]) expect(findSetting(path), path).toBeDefined();
    const { minimum, maximum } = findSetting("approvalSeconds") ?? {};
    const seconds = findCardWait({ approvalSeconds: undefined }) / 1_000;
    expect(GUIDE).toContain(`A card waits ${seconds} seconds (\`approvalSeconds\`, ${minimum} to ${maximum})`);
    const limit = findSetting("actions.limit")?.maximum?.toLocaleString("en-GB");
    expect(GUIDE).toContain(`By default up to ${limit} actions`);
  });

  test("names only tools that exist", () => {
    const names = STATIC_DEFINITIONS.map(({ name }) => name as string);
    const named = [...GUIDE.matchAll(/`(svc_[a-z_]+)`/g)].map(([, name = ""]) => name);
    expect(named).toContain("svc_call_tool");
    expect(named.filter((name) => !names.includes(name))).toEqual([]);
  });

  test("installs the package that is made here, in its version", () => {
    const { version } = readPackage();
    expect(SHELL).toContain(`openclaw plugins install ./${OPENCLAW_PACKAGE}-${version}.tgz`);
  });

  test("quotes messages as they are", () => {
    const sources = readSources();
    const rows = GUIDE.slice(GUIDE.indexOf("## Trouble")).split("\n").slice(4);
    const quoted = rows.flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/"([^"]{10,})"/g)]);
    const texts = quoted.map(([, text = ""]) => text.replaceAll("…", "").trim());
    expect(texts.length).toBeGreaterThan(5);
    const ofHost = ["Plugin approval unavailable"];
    expect(texts.filter((text) => !sources.includes(text) && !ofHost.includes(text))).toEqual([]);
  });
});
