import { readdir, readlink } from "node:fs/promises";
import { expect, it } from "vitest";
import { withFolder } from "../../../src/service/files/folder.ts";
import { useTempFolder } from "./temp-folder.ts";

const folder = useTempFolder();
const DESCRIPTORS = "/proc/self/fd";

/** Descriptors of this process that lead into the folder. */
async function listOpen(): Promise<string[]> {
  const names = await readdir(DESCRIPTORS);
  const places = await Promise.all(names.map((name) => readlink(`${DESCRIPTORS}/${name}`).catch(() => "")));
  return places.filter((place) => place.startsWith(folder()));
}

it.runIf(process.platform === "linux")("holds one folder open while it is used, and none afterwards", async () => {
  const place = { root: folder(), setting: "folder", parts: ["a", "b"] };
  await withFolder({ ...place, create: true }, async (open) => {
    await open.flush();
    expect(await listOpen()).toEqual([`${folder()}/a/b`]);
  });
  const failure = async () => Promise.reject(new Error("broken"));
  await expect(withFolder(place, failure)).rejects.toThrow("broken");
  await expect(withFolder({ ...place, parts: ["a", "c"] }, failure)).rejects.toThrow("ENOENT");
  expect(await listOpen()).toEqual([]);
});
