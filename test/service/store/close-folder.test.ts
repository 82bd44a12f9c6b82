import { chmod, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ServiceLog } from "../../../src/service/service-error.ts";
import { claimDataFolder, closeFolder } from "../../../src/service/store/data-folder.ts";

const uid = process.getuid?.() ?? 0;
const startedAt = new Date(0).toISOString();

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-close-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const readMode = async () => ((await stat(folder)).mode & 0o7777).toString(8);

describe.skipIf(process.platform === "win32")("a data folder that was there before", () => {
  test.each([
    ["755", "700"],
    ["777", "700"],
    ["750", "700"],
    ["2770", "2700"],
    ["700", "700"],
  ])("of mode %s is the owner's alone after a start", async (mode, expected) => {
    await chmod(folder, Number.parseInt(mode, 8));
    const logged: unknown[] = [];
    const claimed = await claimDataFolder(folder, { startedAt, log: (entry) => logged.push(entry) });
    await claimed.release();
    expect(await readMode()).toBe(expected);
    expect(logged).toEqual([]);
  });

  test("of somebody else keeps its rights, and its user is named", async () => {
    await chmod(folder, 0o755);
    expect(await closeFolder(folder, uid + 1)).toBe(`it belongs to user ${uid}, and this process is user ${uid + 1}`);
    expect(await readMode()).toBe("755");
  });

  test("of somebody else who lets nobody in is private enough", async () => {
    expect(await closeFolder(folder, uid + 1)).toBeUndefined();
  });

  test("that all users share keeps its rights; the service starts and says who can read", async () => {
    await chmod(folder, 0o1777);
    const logged: Parameters<ServiceLog>[0][] = [];
    const claimed = await claimDataFolder(folder, { startedAt, log: (entry) => logged.push(entry) });
    await claimed.release();
    expect(await readMode()).toBe("1777");
    expect(logged).toEqual([{ level: "warn", message: expect.stringContaining(`data folder ${folder}`) }]);
    expect(logged[0]?.message).toContain("it is a folder that all users share");
    expect(logged[0]?.message).toContain("chown");
  });

  test.runIf(process.platform === "linux")("on a mount that cannot be changed is used as it is", async () => {
    expect(await closeFolder("/proc/self", uid)).toBe("its file system does not let this process change that");
  });

  test("keeps its rights where there are no modes", async () => {
    await chmod(folder, 0o755);
    expect(await closeFolder(folder, undefined)).toBeUndefined();
    expect(await readMode()).toBe("755");
  });
});
