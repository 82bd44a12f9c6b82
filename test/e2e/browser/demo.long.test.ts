import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { launchChromium, openWindow, signIn } from "./chromium.ts";

const BIN = fileURLToPath(new URL("../../../src/bin.ts", import.meta.url));

let browser: Browser;
let folder: string;
let demo: ChildProcessWithoutNullStreams | undefined;

beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-demo-test-"));
});
afterEach(async () => {
  if (demo !== undefined && demo.exitCode === null) {
    const ended = once(demo, "exit");
    demo.kill("SIGTERM");
    await ended;
  }
  demo = undefined;
  await rm(folder, { recursive: true, force: true });
});

/** What a running demo printed, and a way to wait for more. */
class Printed {
  text = "";
  readonly #waiting = new Set<() => void>();

  constructor(child: ChildProcessWithoutNullStreams) {
    const take = (part: string) => {
      this.text += part;
      for (const look of this.#waiting) look();
    };
    child.stdout.setEncoding("utf8").on("data", take);
    child.stderr.setEncoding("utf8").on("data", take);
    child.once("exit", () => take("\n[ended]\n"));
  }

  /** The first match; rejects when the demo ends without one. */
  async waitFor(pattern: RegExp): Promise<RegExpExecArray> {
    const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
    const look = () => {
      const found = pattern.exec(this.text);
      if (found) resolve(found);
      else if (this.text.endsWith("[ended]\n")) reject(new Error(`The demo ended without ${pattern}:\n${this.text}`));
    };
    this.#waiting.add(look);
    look();
    return promise.finally(() => this.#waiting.delete(look));
  }
}

/** Plays the human: opens the printed links, compares the code, approves, and types one answer to the card. */
async function playDemo(answer: string): Promise<{ printed: Printed; exitCode: number }> {
  const child = spawn(process.execPath, [BIN, "demo", "--data", folder], { env: { ...process.env, NO_COLOR: "1" } });
  demo = child;
  const printed = new Printed(child);
  const exited = once(child, "exit");
  const [, signInUrl = ""] = await printed.waitFor(/one-time link: (\S+)/);
  const [, pairUrl = ""] = await printed.waitFor(/approve the device: (\S+)/);
  const [, code] = await printed.waitFor(/shows the code (\S+)/);
  const page = await openWindow(browser, { colorScheme: "light", width: 390 });
  await signIn(page, signInUrl);
  await page.goto(pairUrl);
  expect(await page.locator(".code strong").textContent()).toBe(code);
  await page.getByRole("button", { name: "Approve device" }).click();
  await page.getByRole("heading", { name: /^Device (approved|paired)$/ }).waitFor();
  await page.context().close();
  await printed.waitFor(/\[a\]pprove/);
  child.stdin.end(`${answer}\n`);
  await exited;
  return { printed, exitCode: child.exitCode ?? -1 };
}

const listDrive = async (): Promise<string[]> =>
  (await readdir(join(folder, "service", "drive"), { recursive: true })).filter((name) => name.endsWith(".pdf"));

const hash = async (path: string): Promise<string> =>
  createHash("sha256")
    .update(await readFile(path))
    .digest("hex");

test("declining at the card leaves the drive as it was", async () => {
  const { printed, exitCode } = await playDemo("d");
  expect(printed.text).toMatch(/quote-2026-114\.pdf/);
  expect(printed.text).toContain("Nothing was stored: the drive is as it was.");
  expect(await listDrive()).toEqual([]);
  expect(exitCode).toBe(0);
}, 90_000);

test("approving at the card stores exactly the attachment", async () => {
  const { printed, exitCode } = await playDemo("a");
  const [stored, ...others] = await listDrive();
  expect(others).toEqual([]);
  const source = await hash(join(folder, "media", "inbound", "quote-2026-114.pdf"));
  expect(await hash(join(folder, "service", "drive", stored ?? ""))).toBe(source);
  expect(printed.text).toContain(`SHA-256: ${source}`);
  expect(printed.text).toContain("equal to the source");
  expect(exitCode).toBe(0);
}, 90_000);
