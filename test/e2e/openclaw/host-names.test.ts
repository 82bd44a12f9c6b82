import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { HOST_TOOL_NAMES, HOST_TOOL_PREFIXES } from "../../../src/plugin/runtimes/openclaw/actions/collect-actions.ts";
import { findOpenClaw } from "./host/find-openclaw.ts";

const dist = join(dirname(findOpenClaw() ?? ""), "dist");

/** Texts of a file of the host whose name carries a hash of its content. */
function readPart(prefix: string): string {
  const name = readdirSync(dist).find((file) => file.startsWith(prefix) && file.endsWith(".mjs"));
  if (name === undefined) throw new Error(`OpenClaw has no ${prefix}*.mjs any more: look for its tool names anew.`);
  return readFileSync(join(dist, name), "utf8");
}

const isKnown = (name: string) =>
  HOST_TOOL_NAMES.has(name) || HOST_TOOL_PREFIXES.some((prefix) => name.startsWith(prefix));

it("knows every core tool of the host", () => {
  const names = [
    ...readPart("core-tool-factory-descriptors-").matchAll(/^\s*name: "([a-z_]+)",$/gm),
    ...readPart("automations-tool-name-").matchAll(/= "([a-z_]+)"/g),
  ].map(([, name]) => name ?? "");
  expect(names.length).toBeGreaterThan(50);
  expect(names.filter((name) => !isKnown(name))).toEqual([]);
});

it("knows every tool of the plugins that come with the host", () => {
  const names = readdirSync(join(dist, "extensions")).flatMap((id) => {
    try {
      const manifest = JSON.parse(readFileSync(join(dist, "extensions", id, "openclaw.plugin.json"), "utf8"));
      return (manifest.contracts?.tools ?? []) as string[];
    } catch {
      return [];
    }
  });
  expect(names.length).toBeGreaterThan(30);
  expect(names.filter((name) => !isKnown(name))).toEqual([]);
});

it("knows the names that the host takes for another one", () => {
  const aliases = readPart("tool-policy-shared-").match(/TOOL_NAME_ALIASES = [\s\S]*?\]\);/)?.[0] ?? "";
  const names = [...aliases.matchAll(/"([^"]+)"/g)].map(([, name]) => name ?? "");
  expect(names).toContain("bash");
  expect(names.filter((name) => !isKnown(name))).toEqual([]);
});
