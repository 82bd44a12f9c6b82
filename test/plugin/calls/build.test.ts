import { describe, expect, it } from "vitest";
import { buildTools } from "../../../src/plugin/calls/build.ts";
import { type CatalogEntry, readCatalogEntry } from "../../../src/plugin/calls/catalog/catalog-entry.ts";
import { createTool } from "./scripted-service.ts";

function createEntry(name: string, change: Readonly<Record<string, unknown>> = {}, effect = "read"): CatalogEntry {
  const entry = readCatalogEntry(createTool(name, effect, change), "describe");
  if (entry === undefined) throw new Error("not callable");
  return entry;
}

const options = { profile: "full", reserved: ["svc_status"] } as const;

describe("buildTools", () => {
  it("makes long and odd names legal and keeps the full name beside them", () => {
    const names = [`trello_${"x".repeat(90)}`, "svc.search", "a b"];
    const tools = buildTools(
      names.map((name) => createEntry(name)),
      options,
    );
    expect(tools.map((tool) => tool.toolName)).toEqual(names);
    for (const tool of tools) expect(tool.name).toMatch(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/);
  });

  it("refuses two tools that would share a name, static ones included", () => {
    expect(() => buildTools([createEntry("a b"), createEntry("a.b")], options)).toThrow("a_b");
    expect(() => buildTools([createEntry("svc.status")], options)).toThrow("svc_status");
  });

  it("cuts a description at a sentence, says so, and says when the user is asked", () => {
    const description = `${"This is one sentence about the tool. ".repeat(60)}`;
    const [tool] = buildTools([createEntry("probe_w", { description }, "write")], options);
    expect(tool?.description.length).toBeLessThanOrEqual(1_024);
    expect(tool?.description).toContain("tool. (cut; svc_describe_tool shows all)".slice(5));
    expect(tool?.description).toMatch(/Asks the user for approval before it runs\.$/);
  });

  it("offers a tool that was not described with an open schema", () => {
    const listed = readCatalogEntry(createTool("probe_r", "read"), "list");
    const [tool] = buildTools(listed === undefined ? [] : [listed], options);
    expect(tool?.schema).toMatchObject({ type: "object", additionalProperties: true });
    expect(tool?.description).toContain("svc_describe_tool first");
  });
});

describe("readCatalogEntry", () => {
  it.each([
    [{ canonical: { action: { side_effect_level: "admin" } } }, "admin"],
    [{ canonical: { side_effect_level: "delete" } }, "delete"],
    [{ canonical: { action: "send_email" }, mode: "destructive" }, "delete"],
    [{ canonical: null, mode: "read" }, "read"],
    [{ canonical: { action: { side_effect_level: "harmless" } } }, "unknown"],
  ])("finds the effect in %j", (change, effect) => {
    expect(createEntry("x", change).effect).toBe(effect);
  });
});
