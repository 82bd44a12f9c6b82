import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { openConnectionMemory } from "../../src/tools/connection-memory.ts";
import { closeAll, makeFolder } from "./open-test-session.ts";

afterEach(closeAll);

describe("openConnectionMemory", () => {
  it("keeps a wish over a restart, in a file only its owner can read, until it is taken back", async () => {
    const file = join(await makeFolder(), "state", "connections.json");
    const memory = await openConnectionMemory(file);
    await memory.remember("drive", "con_1");
    await memory.remember("mail", "con_2");
    await memory.forget("mail");
    await memory.forget("never");
    const again = await openConnectionMemory(file);
    expect(await again.find("drive")).toBe("con_1");
    expect(await again.find("mail")).toBeUndefined();
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it.each(["{", "[]", '{"version":2,"connections":{}}'])("starts empty with a damaged file: %s", async (text) => {
    const file = join(await makeFolder(), "connections.json");
    await writeFile(file, text);
    const memory = await openConnectionMemory(file);
    expect(await memory.find("drive")).toBeUndefined();
    await memory.remember("drive", "con_1");
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ version: 1, connections: { drive: "con_1" } });
  });

  it("lives in memory without a file", async () => {
    const memory = await openConnectionMemory();
    await memory.remember("drive", "con_1");
    expect(await memory.find("drive")).toBe("con_1");
  });
});
