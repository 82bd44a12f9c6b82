import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { PACKAGE_ROOT } from "../../package/read-package.ts";
import { useTempFolder } from "../../service/files/temp-folder.ts";
import { checkRandomPages, checkRealPages } from "./front-matter-properties.ts";

const temp = useTempFolder();

/** Random pages. `SVC_FILES=10000` takes minutes. */
const PAGES = Number(process.env.SVC_FILES ?? 1000);

it("changes a field of many random pages and no other byte", async () => {
  const { changed, refused } = await checkRandomPages(temp(), PAGES);
  expect(changed).toBeGreaterThan(refused);
}, 3_600_000);

it("changes the front matter that the installed packages bring, and nothing else of it", async () => {
  // The skills of OpenClaw, where it is installed, are more than a thousand of them.
  const found = ["node_modules", "test/openclaw-host/node_modules"]
    .map((folder) => join(PACKAGE_ROOT, folder))
    .flatMap((folder) =>
      existsSync(folder)
        ? readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name))
        : [],
    )
    .filter((path) => path.endsWith(".md") && /^\uFEFF?---[ \t]*\r?\n/.test(readFileSync(path, "utf8")));
  // Some of each part of them, in an order that does not change.
  const files = found.toSorted().filter((_, index) => index % Math.ceil((found.length + 1) / (PAGES / 4)) === 0);
  const { changed, refused } = await checkRealPages(temp(), files);
  expect([changed > 0, refused]).toEqual([true, 0]);
}, 600_000);
