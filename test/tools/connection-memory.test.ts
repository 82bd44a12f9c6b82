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

  it("sees at once what another process has chosen, and takes nothing of it back", async () => {
    const file = join(await makeFolder(), "connections.json");
    const [here, there] = [await openConnectionMemory(file), await openConnectionMemory(file)];
    await here.remember("drive", "con_1");
    expect(await there.find("drive")).toBe("con_1");
    await there.remember("mail", "con_2");
    await here.forget("drive");
    expect(JSON.parse(await readFile(file, "utf8")).connections).toEqual({ mail: "con_2" });
    expect(await there.find("drive")).toBeUndefined();
  });

  it("keeps every choice of many that are made at once, in two processes", async () => {
    const file = join(await makeFolder(), "connections.json");
    const memories = [await openConnectionMemory(file), await openConnectionMemory(file)];
    const names = Array.from({ length: 8 }, (_, index) => `app${index}`);
    await Promise.all(names.map((name, index) => memories[index % 2]?.remember(name, `con_${index}`)));
    const kept = await openConnectionMemory(file);
    expect(await Promise.all(names.map((name) => kept.find(name)))).toEqual(names.map((_, index) => `con_${index}`));
  });

  it("lives in memory without a file", async () => {
    const memory = await openConnectionMemory();
    await memory.remember("drive", "con_1");
    expect(await memory.find("drive")).toBe("con_1");
  });
});
