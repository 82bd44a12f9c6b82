import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Validator } from "@cfworker/json-schema";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createHostManifest } from "./create-host-manifest.ts";
import { PACKAGE_ROOT, readJson, readPackage } from "./read-package.ts";

const written = z
  .looseObject({
    id: z.string(),
    version: z.string(),
    skills: z.array(z.string()),
    contracts: z.object({ tools: z.array(z.string()) }),
    toolMetadata: z.record(z.string(), z.looseObject({ profiles: z.array(z.string()) })),
    providers: z.array(z.string()),
    configSchema: z.record(z.string(), z.unknown()),
    uiHints: z.record(z.string(), z.looseObject({ label: z.string() })),
  })
  .parse(readJson("openclaw.plugin.json"));
const packageJson = readPackage();
const hostBlock = z
  .object({
    extensions: z.array(z.string()),
    compat: z.object({ pluginApi: z.string(), minGatewayVersion: z.string() }),
    build: z.object({ openclawVersion: z.string(), pluginSdkVersion: z.string() }),
    install: z.object({ minHostVersion: z.string() }),
  })
  .parse(z.looseObject({ openclaw: z.unknown() }).parse(packageJson).openclaw);

describe("openclaw.plugin.json", () => {
  test("is what plugin.manifest.json says: write it with test/package/write-host-manifest.ts", () => {
    expect(written).toEqual(createHostManifest(readJson("plugin.manifest.json")));
  });

  test("is shipped with the entry it stands for", () => {
    expect(packageJson.files).toContain("openclaw.plugin.json");
    const door = packageJson.exports["./openclaw"];
    expect(hostBlock.extensions).toEqual([typeof door === "object" ? door.default : undefined]);
    for (const folder of written.skills) expect(existsSync(join(PACKAGE_ROOT, folder))).toBe(true);
  });

  test("asks for one version of the host everywhere", () => {
    const floor = packageJson.peerDependencies.openclaw;
    expect(floor).toMatch(/^>=\d+\.\d+\.\d+$/);
    expect(hostBlock.install.minHostVersion).toBe(floor);
    expect(hostBlock.compat.pluginApi).toBe(floor);
    expect(hostBlock.compat.minGatewayVersion).toBe(floor?.slice(2));
    expect(packageJson.peerDependenciesMeta.openclaw?.optional).toBe(true);
  });

  test("carries the id that the entry has", async () => {
    const { default: plugin } = await import("../../src/openclaw.ts");
    expect(plugin.id).toBe(written.id);
    expect(written.providers).toEqual([written.id]);
  });

  test("says for every tool whether it changes something, and shows it under every profile", () => {
    expect(Object.keys(written.toolMetadata)).toEqual(written.contracts.tools);
    for (const [tool, { profiles, ...marks }] of Object.entries(written.toolMetadata)) {
      expect(profiles, tool).toEqual(["minimal", "coding", "messaging", "full"]);
      expect(Object.keys(marks), tool).toHaveLength(1);
    }
    expect(written.toolMetadata.svc_call_tool).toMatchObject({ sideEffecting: true });
    expect(written.toolMetadata.svc_search_tools).toMatchObject({ replaySafe: true });
  });

  test("takes no settings at all, a key as text or reference, and nothing unknown", () => {
    const validator = new Validator({ ...written.configSchema }, "2020-12");
    const takes = (config: unknown) => validator.validate(config).valid;
    expect(takes({})).toBe(true);
    expect(takes({ apiKey: "svc_live_x" })).toBe(true);
    expect(takes({ apiKey: { source: "env", provider: "default", id: "SVC_API_KEY" } })).toBe(true);
    expect(takes({ apiKey: { source: "env" } })).toBe(false);
    expect(takes({ apiKey: "" })).toBe(false);
    expect(takes({ actions: { integrations: ["mail"], limit: 20 } })).toBe(true);
    expect(takes({ misspelt: 1 })).toBe(false);
  });

  test("declares no default, which the host would hand over as if it was set", () => {
    expect(JSON.stringify(written.configSchema)).not.toContain('"default"');
  });

  test("hides the key in the host's settings and labels every field", () => {
    const { properties } = z.looseObject({ properties: z.record(z.string(), z.unknown()) }).parse(written.configSchema);
    const labelled = Object.keys(written.uiHints).filter((name) => !name.includes("."));
    expect(labelled.sort()).toEqual(Object.keys(properties).sort());
    expect(Object.keys(written.uiHints)).toEqual(expect.arrayContaining(["actions.integrations", "actions.limit"]));
    expect(written.uiHints.apiKey).toMatchObject({ sensitive: true });
    expect(properties.apiKey, "alternatives would be drawn as a field for JSON").not.toHaveProperty("anyOf");
    expect(properties.apiKey).toMatchObject({ type: ["string", "object"] });
  });

  test("puts every setting into one titled section, the service first", () => {
    const { configGroups, configSchema } = z
      .looseObject({
        configGroups: z.array(
          z.object({ id: z.string(), title: z.string(), order: z.int(), properties: z.array(z.string()) }),
        ),
        configSchema: z.looseObject({ properties: z.record(z.string(), z.unknown()) }),
      })
      .parse(readJson("openclaw.plugin.json"));
    expect(configGroups[0]?.properties).toEqual(["baseUrl", "apiKey"]);
    const grouped = configGroups.flatMap(({ properties }) => properties);
    expect(grouped.sort()).toEqual(Object.keys(configSchema.properties).sort());
  });

  test("has an icon as the host takes it: a square PNG", () => {
    const png = readFileSync(join(PACKAGE_ROOT, "assets/icon.png"));
    expect(png.subarray(1, 4).toString()).toBe("PNG");
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([256, 256]);
    expect(png.length).toBeLessThan(16_384);
  });
});
