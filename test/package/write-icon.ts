import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { launchChromium } from "../e2e/browser/chromium.ts";
import { PACKAGE_ROOT } from "./read-package.ts";

// Run with `npx node test/package/write-icon.ts` after a change of assets/icon.svg: OpenClaw takes icons as PNG.
const SIZE = 256;
const svg = await readFile(join(PACKAGE_ROOT, "assets/icon.svg"), "utf8");
const browser = await launchChromium();
try {
  const page = await browser.newPage({ viewport: { width: SIZE, height: SIZE } });
  await page.setContent(`<style>body { margin: 0 } svg { display: block; width: ${SIZE}px }</style>${svg}`);
  const png = await page.screenshot({ omitBackground: true });
  await writeFile(join(PACKAGE_ROOT, "assets/icon.png"), png);
} finally {
  await browser.close();
}
