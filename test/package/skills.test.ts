import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { createArgumentGuard, projectToolSchema } from "../../src/index.ts";
import { locateFiles } from "../../src/plugin/media/locate/locate-files.ts";
import { PACKAGE_ROOT, readJson } from "./read-package.ts";

/**
 * The common SKILL.md form: names as folders, descriptions that fit the prompt of every runtime. `metadata` stands on one
 * line, as OpenClaw's own skills have it; other runtimes pass over it.
 */
const frontmatterSchema = z.strictObject({
  name: z
    .string()
    .max(64)
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/),
  description: z.string().min(40).max(1024),
  license: z.string().optional(),
  /** A skill that people may call by name takes its name as a chat command, which would hide the plugin's own `/svc`. */
  "user-invocable": z.literal(false),
  metadata: z.strictObject({
    openclaw: z.strictObject({ requires: z.strictObject({ config: z.array(z.string()) }) }),
  }),
});

const FOLDER = join(PACKAGE_ROOT, "skills");
const SKILLS = readdirSync(FOLDER);

function readSkill(name: string): { frontmatter: unknown; body: string } {
  const text = readFileSync(join(FOLDER, name, "SKILL.md"), "utf8");
  const [, frontmatter = "", body = ""] = /^---\n(.*?)\n---\n(.*)$/s.exec(text) ?? [];
  return { frontmatter: parse(frontmatter), body };
}

describe.each(SKILLS)("skill %s", (name) => {
  const { frontmatter, body } = readSkill(name);

  test("has legal frontmatter that carries the name of its folder", () => {
    expect(frontmatterSchema.parse(frontmatter).name).toBe(name);
  });

  test("is shown in OpenClaw only while the plugin is on", () => {
    const { id } = z.looseObject({ id: z.string() }).parse(readJson("plugin.manifest.json"));
    const { metadata } = frontmatterSchema.parse(frontmatter);
    expect(metadata.openclaw.requires.config).toEqual([`plugins.entries.${id}.enabled`]);
  });

  test("is short enough to read at once", () => {
    expect(body.trim().split("\n").length).toBeLessThan(100);
    expect(body.length).toBeLessThan(6000);
  });

  test("has nothing a skill scanner of a runtime would stop", () => {
    expect(body).not.toMatch(/curl|wget|\brm -rf\b|chmod|process\.env|svc_live_\w/);
  });
});

test("the svc skill names exactly the static tools of the manifest", () => {
  const { body } = readSkill("svc");
  const manifest = z.looseObject({ tools: z.looseObject({ static: z.array(z.string()) }) });
  const named = new Set([...body.matchAll(/`(svc_[a-z_]+)`/g)].map((match) => match[1]));
  expect([...named].sort()).toEqual([...manifest.parse(readJson("plugin.manifest.json")).tools.static].sort());
});

test("the svc skill explains exactly the outcomes a tool can have", () => {
  const { body } = readSkill("svc");
  const rows = [...body.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1]);
  expect(rows.sort()).toEqual(["declined", "failed", "needs_approval", "needs_connection", "succeeded", "unknown"]);
});

test("the svc skill gives a file in a form that fits what the model is shown and is found as a file", () => {
  const { body } = readSkill("svc");
  const example: { file: unknown } = JSON.parse(/```json\n(.*?)\n```/s.exec(body)?.[1] ?? "");
  const members = { name: { type: "string" }, mimetype: { type: "string" }, s3key: { type: "string" } };
  const file = { type: "object", file_uploadable: true, properties: members, required: Object.keys(members) };
  const inputSchema = { type: "object", properties: { file }, required: ["file"] };
  const { schema } = projectToolSchema(inputSchema, { profile: "full" });
  expect(createArgumentGuard(schema)(example)).toMatchObject({ ok: true, repairs: [] });
  expect(locateFiles(inputSchema, example).files).toMatchObject([{ field: "file", kind: "local" }]);
});
