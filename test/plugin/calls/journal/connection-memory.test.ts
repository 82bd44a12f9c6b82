import { afterEach, describe, expect, it } from "vitest";
import { type ConnectionMemory, createConnectionMemory } from "../../../../src/plugin/calls/ask/standing-rules.ts";
import { openStateFile } from "../../../../src/plugin/calls/journal/state-file.ts";
import { closeAll, closeLater, makeFolder } from "../open-test-session.ts";

afterEach(closeAll);

/** The memory of a folder as another process opens it. */
async function openMemory(folder: string): Promise<ConnectionMemory> {
  const state = await openStateFile(folder);
  closeLater({ close: async () => state?.close() });
  return createConnectionMemory(state);
}

describe("createConnectionMemory", () => {
  it("keeps a wish over a restart, until it is taken back", async () => {
    const folder = await makeFolder();
    const memory = await openMemory(folder);
    await memory.remember("drive", "con_0");
    await memory.remember("drive", "con_1");
    await memory.remember("mail", "con_2");
    await memory.forget("mail");
    await memory.forget("never");
    const again = await openMemory(folder);
    expect(await again.find("drive")).toBe("con_1");
    expect(await again.find("mail")).toBeUndefined();
  });

  it("sees at once what another process has chosen, and takes nothing of it back", async () => {
    const folder = await makeFolder();
    const [here, there] = [await openMemory(folder), await openMemory(folder)];
    await here.remember("drive", "con_1");
    expect(await there.find("drive")).toBe("con_1");
    await there.remember("mail", "con_2");
    await here.forget("drive");
    expect(await there.find("drive")).toBeUndefined();
    expect(await here.find("mail")).toBe("con_2");
  });

  it("keeps every choice of many that are made at once, in two processes", async () => {
    const folder = await makeFolder();
    const memories = [await openMemory(folder), await openMemory(folder)];
    const names = Array.from({ length: 8 }, (_, index) => `app${index}`);
    await Promise.all(names.map((name, index) => memories[index % 2]?.remember(name, `con_${index}`)));
    const kept = await openMemory(folder);
    expect(await Promise.all(names.map((name) => kept.find(name)))).toEqual(names.map((_, index) => `con_${index}`));
  });

  it("lives in memory without a file", async () => {
    const memory = createConnectionMemory();
    await memory.remember("drive", "con_1");
    expect(await memory.find("drive")).toBe("con_1");
    await memory.forget("drive");
    expect(await memory.find("drive")).toBeUndefined();
  });
});
