import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runSvc } from "./run-svc.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-demo-test-"));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

/** What a person must see, in this order. */
const STORY = [
  /^Listening on http:\/\/127\.0\.0\.1:\d+$/m,
  /approve the device: http:\/\/127\.0\.0\.1:\d+\/pair\/\S+$/m,
  /the code [A-Z0-9]{4}-[A-Z0-9]{4}$/m,
  /^Approved\.$/m,
  /^[1-9]\d* dynamic tools from [1-9]\d* integrations\.$/m,
  /^Agent calls mail_search /m,
  /subject: The quote for the terrace/,
  /Approval needed\n.*In short +│ Save "quote-2026-114(?: \(2\))?\.pdf" in "Quotes"/,
  /Files +│ quote-2026-114\.pdf, application\/pdf, \d+ bytes, md5\s+\[unattended\] +│ +[0-9a-f]{32}/,
  /folder: Quotes/,
  /Tool +│ drive_upload_file/,
  /Approve\? +│ drive_upload_file, writes, Local drive/,
  /\[unattended\] Approved by the unattended run/,
  /^Stored: +\S.*\.pdf$/m,
  /^SHA-256: [0-9a-f]{64}$/m,
  /equal to the source/,
  /^What to do next$/m,
];

function expectStory(stdout: string): void {
  let rest = stdout;
  for (const scene of STORY) {
    const at = rest.search(scene);
    expect(at, `${scene} is missing, or too early, in:\n${stdout}`).toBeGreaterThanOrEqual(0);
    rest = rest.slice(at);
  }
}

test("the unattended demo tells its whole story, and again on the same data folder", async () => {
  const data = join(folder, "data");
  for (const name of ["quote-2026-114.pdf", "quote-2026-114 (2).pdf"]) {
    const run = await runSvc(["demo", "--unattended", "--data", data], folder);
    expect(run, run.stderr).toMatchObject({ code: 0 });
    expectStory(run.stdout);
    const bytes = await readFile(join(data, "service/drive/Quotes", name));
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    expect(run.stdout).toContain(`SHA-256: ${sha256}`);
    expect(bytes.equals(await readFile(join(data, "media/inbound/quote-2026-114.pdf")))).toBe(true);
    expect(run.stdout + run.stderr).not.toMatch(/svc_live_/);
  }
}, 120_000);

test("without a data folder nothing is left behind", async () => {
  const run = await runSvc(["demo", "--unattended"], folder, { env: { TMPDIR: folder } });
  expect(run, run.stderr).toMatchObject({ code: 0 });
  expectStory(run.stdout);
  expect(await readdir(folder)).toEqual([]);
}, 120_000);
