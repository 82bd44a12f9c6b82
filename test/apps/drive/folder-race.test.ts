import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, it } from "vitest";
import { createDriveIntegration } from "../../../src/apps/drive/drive-integration.ts";
import { ServiceError } from "../../../src/service/service-error.ts";
import { useTempFolder } from "../../service/files/temp-folder.ts";
import { createRunner, holdFile } from "../run-action.ts";

const driveIntegration = createDriveIntegration();
const temp = useTempFolder();

it("neither reads nor writes outside while folders are swapped for links under it", async () => {
  const root = join(temp(), "drive");
  const outside = join(temp(), "outside");
  await mkdir(join(root, "a"), { recursive: true });
  await mkdir(outside);
  await writeFile(join(root, "a", "x.txt"), "inside");
  await writeFile(join(outside, "x.txt"), "secret");
  await symlink(outside, join(temp(), "link"));
  const workerData = { folder: join(root, "a"), link: join(temp(), "link"), spare: join(temp(), "spare") };
  const swapper = new Worker(new URL("./swap-folders.ts", import.meta.url), { workerData });
  const stopped = new Promise((resolve) => swapper.once("exit", resolve));
  const run = createRunner(driveIntegration, {
    settings: { folder: root },
    files: { k: holdFile("n.txt", "text/plain", "new") },
  });
  const file = { name: "n.txt", mimetype: "text/plain", s3key: "k" };
  let [read, written, refused] = [0, 0, 0];
  for (let n = 0; n < 1500; n++) {
    const [found, saved] = await Promise.allSettled([
      run("read_file", { path: "a/x.txt" }),
      run("upload_file", { file, folder: "a", name: "n.txt", if_exists: "replace" }),
    ]);
    if (found.status === "fulfilled") {
      expect(found.value.text).toBe("inside");
      read += 1;
    }
    if (saved.status === "fulfilled") written += 1;
    for (const one of [found, saved])
      if (one.status === "rejected") {
        expect(one.reason).toBeInstanceOf(ServiceError);
        refused += 1;
      }
  }
  swapper.postMessage("stop");
  await stopped;
  console.log(`swapped folders: ${read} reads, ${written} writes, ${refused} refusals, nothing outside touched`);
  expect(await readdir(outside)).toEqual(["x.txt"]);
  expect(await readFile(join(outside, "x.txt"), "utf8")).toBe("secret");
  expect(read).toBeGreaterThan(0);
  expect(refused).toBeGreaterThan(0);
}, 60_000);
