import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Validator } from "@cfworker/json-schema";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { placesUnder } from "../../src/cli/context.ts";
import { readSettings } from "../../src/cli/settings.ts";
import { FLOW_TOOL_NAMES, STATIC_TOOL_NAMES } from "../../src/plugin/calls/static-tools.ts";
import { API_KEY_PREFIX } from "../../src/shared/wire/constants.ts";
import { EXPORTS } from "./expected-exports.ts";
import { PACKAGE_ROOT, readJson, readPackage } from "./read-package.ts";

const moduleEntry = z.strictObject({
  module: z.string(),
  export: z.string(),
  peers: z.array(z.string()).optional(),
});
const commandEntry = z.strictObject({ command: z.string(), args: z.array(z.string()).optional() });
const openclawEntry = moduleEntry.extend({
  title: z.string().min(10),
  category: z.string(),
  groups: z.array(z.strictObject({ id: z.string(), title: z.string(), settings: z.array(z.string()).min(1) })),
  commands: z.array(z.strictObject({ name: z.string(), description: z.string(), hasSubcommands: z.boolean() })),
  settings: z.record(z.string(), z.looseObject({ title: z.string(), description: z.string().min(20) })),
});

const configSettingSchema = z.looseObject({
  type: z.enum(["string", "array", "boolean", "integer"]),
  title: z.string(),
  description: z.string().min(20),
});

const manifestSchema = z.strictObject({
  manifestVersion: z.literal(1),
  id: z.string().regex(/^[a-z][a-z0-9-]*$/),
  name: z.string().min(1),
  version: z.string().regex(/^\d+\.\d+\.\d+$/),
  description: z.string().min(20).max(200),
  license: z.literal("MIT"),
  entries: z.looseObject({ openclaw: openclawEntry }).catchall(z.union([moduleEntry, commandEntry])),
  skills: z.array(z.string().startsWith("./skills/")).min(1),
  configSchema: z.strictObject({
    $schema: z.literal("https://json-schema.org/draft/2020-12/schema"),
    type: z.literal("object"),
    additionalProperties: z.literal(false),
    properties: z.record(z.string(), configSettingSchema),
  }),
  secrets: z.array(
    z.strictObject({
      name: z.string(),
      title: z.string(),
      env: z.string().regex(/^SVC_[A-Z_]+$/),
      prefix: z.string(),
      from: z.string(),
      description: z.string().min(20),
    }),
  ),
  tools: z.strictObject({
    static: z.array(z.string().regex(/^svc_[a-z_]{1,60}$/)),
    changing: z.array(z.string()),
    dynamic: z.boolean(),
  }),
  onboarding: z.array(
    z.strictObject({
      method: z.string(),
      title: z.string(),
      description: z.string(),
      module: z.string(),
      export: z.string(),
      command: z.array(z.string()).min(1),
    }),
  ),
});

const manifest = manifestSchema.parse(readJson("plugin.manifest.json"));
const packageJson = readPackage();

describe("plugin.manifest.json", () => {
  test("carries the version of the package", () => {
    expect(manifest.version).toBe(packageJson.version);
  });

  test("is shipped and exported", () => {
    expect(packageJson.files).toContain("plugin.manifest.json");
    expect(packageJson.exports["./plugin.manifest.json"]).toBe("./plugin.manifest.json");
  });

  test.each(Object.entries(manifest.entries))("entry %s exists", async (_runtime, entry) => {
    if ("command" in entry) {
      expect(Object.keys(packageJson.bin)).toContain(entry.command);
      return;
    }
    const subpath = entry.module.replace(packageJson.name, ".");
    expect(Object.keys(packageJson.exports)).toContain(subpath);
    const source = join(PACKAGE_ROOT, "src", subpath === "." ? "index.ts" : `${subpath.slice(2)}.ts`);
    const door: unknown = await import(source);
    expect(door).toHaveProperty(entry.export);
    for (const peer of entry.peers ?? []) {
      expect(packageJson.peerDependenciesMeta[peer]?.optional, peer).toBe(true);
    }
  });

  test("names an OpenClaw entry only when there is one", () => {
    expect("openclaw" in manifest.entries).toBe(existsSync(join(PACKAGE_ROOT, "src/openclaw.ts")));
  });

  test("leaves every setting optional and gives each a usable default", () => {
    const validator = new Validator({ ...manifest.configSchema }, "2020-12");
    const defaults = Object.entries(manifest.configSchema.properties).filter(([, setting]) => "default" in setting);
    expect(validator.validate({}).valid).toBe(true);
    expect(validator.validate(Object.fromEntries(defaults.map(([key, setting]) => [key, setting.default]))).valid).toBe(
      true,
    );
    expect(validator.validate({ mediaRoots: ["/srv/media"] }).valid).toBe(true);
    expect(validator.validate({ apiKey: "svc_live_x" }).valid, "a key is no setting").toBe(false);
    expect(validator.validate({ upload: "shell" }).valid).toBe(false);
  });

  test("keeps the key out of the settings and says where it comes from", () => {
    const key = manifest.secrets.find((secret) => secret.name === "apiKey");
    expect(key).toMatchObject({ env: "SVC_API_KEY", prefix: API_KEY_PREFIX });
    expect(manifest.onboarding.map((step) => step.method)).toContain(key?.from);
    for (const step of manifest.onboarding) {
      expect(Object.keys(packageJson.bin)).toContain(step.command[0]);
      expect(step.module).toBe(packageJson.name);
      expect(EXPORTS["."]).toContain(step.export);
    }
  });

  test("lists exactly the static tools that the plugin registers", () => {
    expect([...manifest.tools.static].sort()).toEqual([...STATIC_TOOL_NAMES, ...FLOW_TOOL_NAMES].sort());
  });

  test("marks tools of its own as changing something, and no others", () => {
    expect(manifest.tools.static).toEqual(expect.arrayContaining(manifest.tools.changing));
  });

  test("has settings that the command line reads from its file", async () => {
    const home = await mkdtemp(join(tmpdir(), "svc-manifest-"));
    const places = placesUnder(home);
    const settings: Record<string, unknown> = { baseUrl: "https://svc.example", mediaRoots: ["/srv/media"] };
    for (const [name, setting] of Object.entries(manifest.configSchema.properties)) settings[name] ??= setting.default;
    await mkdir(places.config);
    await writeFile(join(places.config, "config.json"), JSON.stringify(settings));
    expect(await readSettings(places, {}, {})).toMatchObject(settings);
    await writeFile(join(places.config, "config.json"), JSON.stringify({ ...settings, misspelt: 1 }));
    await expect(readSettings(places, {}, {})).rejects.toThrow(/misspelt/);
    await rm(home, { recursive: true });
  });

  test("names skill folders that exist", () => {
    for (const folder of manifest.skills) expect(existsSync(join(PACKAGE_ROOT, folder, "SKILL.md")), folder).toBe(true);
    expect(packageJson.files).toContain("skills");
  });
});
