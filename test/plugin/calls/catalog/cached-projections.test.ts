import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createCatalog, type ToolCatalog } from "../../../../src/plugin/calls/catalog/catalog.ts";
import { PROJECTION_VERSION, projectEntry } from "../../../../src/plugin/calls/projection.ts";
import type { SessionEvent } from "../../../../src/plugin/calls/session-events.ts";
import { SvcClient } from "../../../../src/plugin/client/client.ts";
import type { SchemaProfile } from "../../../../src/plugin/schema/project/project-schema.ts";
import { MESSY_SCHEMAS } from "../../schema/messy-schemas.ts";
import { closeAll, closeLater, makeFolder } from "../open-test-session.ts";
import { createTool, type ScriptedService, startScriptedService } from "../scripted-service.ts";

const SCHEMA = {
  type: "object",
  properties: { when: { type: "string", format: "date" }, "odd key": { type: ["string", "null"] } },
};
let service: ScriptedService;
let folder: string;
let events: SessionEvent[];

beforeEach(async () => {
  service = closeLater(await startScriptedService());
  folder = await makeFolder();
  events = [];
  service.offer(createTool("probe_a", "read", { inputSchema: SCHEMA }));
  service.offer(createTool("probe_b", "read", { inputSchema: { type: "object", properties: { b: true } } }));
});
afterEach(closeAll);

async function open(): Promise<ToolCatalog> {
  const client = closeLater(new SvcClient({ baseUrl: service.url, apiKey: "svc_live_one" }));
  const onEvent = (event: SessionEvent) => events.push(event);
  const catalog = closeLater(createCatalog({ client, cacheDir: folder, onEvent }));
  await catalog.load();
  return catalog;
}

function show(catalog: ToolCatalog, profile: SchemaProfile = "full", name = "probe_a") {
  const entry = catalog.peek(name);
  if (entry === undefined) throw new Error("not known");
  const wasCached = entry.shown?.get(profile) !== undefined;
  const { schema, renamed, notes } = projectEntry(entry, profile);
  return { wasCached, shown: { schema, renamed, notes } };
}

const fresh = (inputSchema: Record<string, unknown>, profile: SchemaProfile = "full") => {
  const { schema, renamed, notes } = projectEntry({ inputSchema }, profile);
  return { schema, renamed, notes };
};

/** A session that describes both tools and shows the first. */
async function leaveCache(): Promise<void> {
  const first = await open();
  for (const name of ["probe_a", "probe_b"]) await first.find(name);
  expect(show(first)).toEqual({ wasCached: false, shown: fresh(SCHEMA) });
  await first.close();
}

/** Changes the file; with `isSound` its hash, too, as if it had been written like that. */
async function changeFile(change: (text: string) => string, isSound = false): Promise<void> {
  const file = join(folder, (await readdir(folder))[0] ?? "");
  const before = await readFile(file, "utf8");
  let text = change(before);
  expect(text).not.toBe(before);
  const end = text.indexOf("\n") + 1;
  const hash = createHash("sha256").update(text.slice(end)).digest("hex");
  if (isSound) text = text.slice(0, end).replace(/"hash":"[^"]*"/, `"hash":"${hash}"`) + text.slice(end);
  await writeFile(file, text);
}

describe("a cached projection", () => {
  it("is used by the next session, for its schema and its profile", async () => {
    await leaveCache();
    const second = await open();
    expect(show(second)).toEqual({ wasCached: true, shown: fresh(SCHEMA) });
    expect(show(second, "gemini")).toEqual({ wasCached: false, shown: fresh(SCHEMA, "gemini") });
    expect(show(second, "full", "probe_b").wasCached).toBe(false);
    expect(second.peek("probe_a")?.inputSchema).toEqual(SCHEMA);
    await second.close();
    const third = await open();
    expect(show(third)).toEqual({ wasCached: true, shown: fresh(SCHEMA) });
    expect(show(third, "gemini")).toEqual({ wasCached: true, shown: fresh(SCHEMA, "gemini") });
    expect(show(third, "full", "probe_b").wasCached).toBe(true);
  });

  it("is kept when the tool is described again as it was, and dropped with its schema", async () => {
    await leaveCache();
    const second = await open();
    await second.refresh("probe_a");
    expect(show(second).wasCached).toBe(true);
    const changed = { type: "object", properties: { when: { type: "integer" } } };
    service.offer(createTool("probe_a", "read", { inputSchema: changed }));
    await second.refresh("probe_a");
    expect(show(second)).toEqual({ wasCached: false, shown: fresh(changed) });
    await second.close();
    const third = await open();
    expect(show(third)).toEqual({ wasCached: true, shown: fresh(changed) });
  });

  it("of another version of the projection is made anew", async () => {
    await leaveCache();
    await changeFile(
      (text) => text.replace(`\n${PROJECTION_VERSION} full `, `\n${PROJECTION_VERSION - 1} full `),
      true,
    );
    expect(show(await open())).toEqual({ wasCached: false, shown: fresh(SCHEMA) });
    expect(events.filter(({ type }) => type === "cache_rebuilt")).toEqual([]);
  });

  it.each([
    ["torn within", (text: string) => text.slice(0, text.indexOf('"format":"date"') + 8)],
    ["other bytes in", (text: string) => text.replace('"format":"date"', '"format":"time"')],
    ["zeros in", (text: string) => text.replace('"format":"date"', "\0".repeat(15))],
    ["other lengths before", (text: string) => text.replace(/"lengths":\[(\d+),(\d+)\]/, '"lengths":[$2,$1]')],
  ])("with %s is never shown: the file is reported, and everything fetched anew", async (_name, damage) => {
    await leaveCache();
    await changeFile(damage);
    const second = await open();
    expect(events.filter(({ type }) => type === "cache_rebuilt")).toHaveLength(1);
    expect(second.peek("probe_a")?.schemaHash).toBeUndefined();
    await second.find("probe_a");
    expect(show(second)).toEqual({ wasCached: false, shown: fresh(SCHEMA) });
  });

  it("a file of the first form is dropped", async () => {
    await leaveCache();
    await changeFile(() => JSON.stringify({ version: 1, principal: "x", hash: "", omitted: [], tools: [] }));
    await open();
    expect(events).toContainEqual({ type: "cache_rebuilt", reason: "the cached tool list has another form" });
  });
});

/** When this fails, schemas are shown in another way than before: raise PROJECTION_VERSION and write the new digest. */
it("stands for the projection as it is", () => {
  const hash = createHash("sha256");
  for (const { schema } of MESSY_SCHEMAS) {
    for (const profile of ["full", "gemini"] as const) hash.update(JSON.stringify(fresh(Object(schema), profile)));
  }
  expect([PROJECTION_VERSION, hash.digest("hex")]).toEqual([
    2,
    "1b450adf047568301e1242934301893db34272555ff1b831f98c05b93edc711f",
  ]);
});
