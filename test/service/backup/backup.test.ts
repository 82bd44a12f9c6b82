import { mkdir, mkdtemp, open, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { compactStore } from "../../../src/service/backup/compact-store.ts";
import { makeBackup } from "../../../src/service/backup/make-backup.ts";
import { checkBackup, restoreBackup } from "../../../src/service/backup/restore-backup.ts";
import { STORE_FILE } from "../../../src/service/store/data-folder.ts";
import { openSqlite } from "../../../src/service/store/open-sqlite.ts";
import { startTestService } from "../../../src/testing.ts";
import { runSvc } from "../../e2e/run-svc.ts";
import { expectMode } from "../../suites/this-system.ts";
import { execute } from "../http-calls.ts";

const NOW = Date.UTC(2026, 10, 26);

let place: string;
let dataDir: string;
let file: string;

beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), "svc-backup-"));
  dataDir = join(place, "service");
  file = join(place, "backup.tar.gz");
});

afterEach(() => rm(place, { recursive: true, force: true }));

const writeNote = (service: { url: string; apiKey: string }, title: string) =>
  execute(service, "notes_create_page", { arguments: { title, body: "kept" }, confirmed: true });

async function listTitles(service: { url: string; apiKey: string }): Promise<string[]> {
  const { json } = await execute(service, "notes_search", { arguments: { query: "kept" } });
  return (json.result.pages as { title: string }[]).map(({ title }) => title).sort();
}

/** A data folder with the page "First", whose service has ended. */
async function fill(): Promise<{ apiKey: string }> {
  const service = await startTestService({ dataDir });
  expect((await writeNote(service, "First")).status).toBe(200);
  await service.close();
  return service;
}

const backUp = () => makeBackup({ dataDir, file, now: NOW });
const restore = (options: { dataDir?: string; replace?: boolean } = {}) =>
  restoreBackup({ file, dataDir, replace: false, now: NOW, ...options });

test("a backup made while writes are answered is whole, and serves elsewhere with the same keys", async () => {
  const service = await startTestService({ dataDir });
  const other = join(place, "elsewhere");
  const writes = Array.from({ length: 6 }, (_, index) => writeNote(service, `Page ${index}`));
  await writes[0];
  const [made] = await Promise.all([backUp(), ...writes]);
  expect(made).toMatchObject({ file, dataDir, createdAt: "2026-11-26T00:00:00.000Z" });
  expectMode(file, 0o600);
  expect(await readdir(place)).toEqual(["backup.tar.gz", "service"]);
  expect(await readdir(dataDir)).not.toContain(".backup");
  await writeNote(service, "Later");
  await service.close();

  await restore({ dataDir: other });
  const again = await startTestService({ dataDir: other });
  const { url } = again;
  try {
    const restored = { url, apiKey: service.apiKey };
    const titles = await listTitles(restored);
    expect(titles).toContain("Page 0");
    expect(titles).not.toContain("Later");
    // The notes are those of the new folder, not of the one they were in.
    await rm(dataDir, { recursive: true });
    expect((await writeNote(restored, "After")).status).toBe(200);
    expect(await listTitles(restored)).toEqual([...titles, "After"].sort());
  } finally {
    await again.close();
  }
});

test("a folder with content is moved out of the way only when that is asked for, and never under a running service", async () => {
  await fill();
  await backUp();
  await expect(restore()).rejects.toMatchObject({ field: "dataDir", message: expect.stringContaining("has content") });
  const running = await startTestService({ dataDir });
  await expect(restore({ replace: true })).rejects.toMatchObject({
    message: expect.stringContaining("A service runs"),
  });
  await running.close();
  const { moved } = await restore({ replace: true });
  expect(moved).toBe(`${dataDir}.before-20261126T000000Z`);
  expect(await readdir(place)).toEqual(["backup.tar.gz", "service", "service.before-20261126T000000Z"]);
  expectMode(dataDir, 0o700);
  expect((await stat(join(dataDir, STORE_FILE))).mode & 0o077).toBe(0);
});

test("a place that cannot be exchanged is named, with the way out", async () => {
  await fill();
  await backUp();
  await writeFile(join(place, "volume"), "");
  const refusal = restoreBackup({ file, dataDir: join(place, "volume/data"), now: 0, replace: true });
  await expect(refusal).rejects.toMatchObject({
    field: "dataDir",
    message: expect.stringContaining("volume/data cannot be exchanged"),
  });
});

test("a backup that lost or changed a byte is refused, and nothing is put in place", async () => {
  await fill();
  const { bytes } = await backUp();
  const whole = await readFile(file);
  const damages = [
    () => writeFile(file, whole.subarray(0, bytes - 400)),
    async () => {
      const handle = await open(file, "r+");
      await handle.write(Buffer.alloc(16, 7), 0, 16, Math.floor(bytes / 2));
      await handle.close();
    },
    () => writeFile(file, "no archive"),
  ];
  await rm(dataDir, { recursive: true });
  for (const damage of damages) {
    await writeFile(file, whole);
    await damage();
    await expect(checkBackup(file, place)).rejects.toMatchObject({ code: "invalid_config", field: "file" });
    await expect(restore()).rejects.toMatchObject({ code: "invalid_config", field: "file" });
    expect(await readdir(place)).toEqual(["backup.tar.gz"]);
  }
  await writeFile(file, whole);
  expect(await checkBackup(file, place)).toMatchObject({ dataDir });
  expect(await readdir(place)).toEqual(["backup.tar.gz"]);
});

test("no file is overwritten, and what cannot be backed up is named", async () => {
  await fill();
  await writeFile(file, "mine");
  await expect(backUp()).rejects.toMatchObject({ field: "file", message: `${file} exists already.` });
  expect(await readFile(file, "utf8")).toBe("mine");
  const nowhere = makeBackup({ dataDir, file: join(place, "no", "folder.tar.gz"), now: NOW });
  await expect(nowhere).rejects.toMatchObject({ field: "file", message: expect.stringContaining("cannot be written") });
  const empty = makeBackup({ dataDir: place, file: join(place, "b"), now: NOW });
  await expect(empty).rejects.toMatchObject({ field: "dataDir", hint: expect.stringContaining("pg_dump") });
});

test("svc backup, restore and compact tell what they did and what comes next", async () => {
  await fill();
  const svc = (...args: string[]) => runSvc([...args, "--data", dataDir], place);
  const made = await svc("backup", file);
  expect(made.stdout).toContain(`svc restore ${file} --check`);
  const checked = await runSvc(["restore", file, "--check"], place);
  expect(checked.stdout).toMatch(/^A whole backup: \d+ files, of 20/);
  const refused = await svc("restore", file);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("Give --replace")]);
  const restored = await svc("restore", file, "--replace");
  expect(restored.stdout).toContain(`Next, to start it: svc serve --data ${dataDir}`);
  const compacted = await svc("compact", "--json");
  expect(JSON.parse(compacted.stdout)).toEqual({ before: expect.any(Number), after: expect.any(Number) });
  const running = await startTestService({ dataDir });
  await expect(compactStore(dataDir)).rejects.toMatchObject({ hint: "Stop it first." });
  await running.close();
});

test("of the backups in a folder as many are kept as were asked for, and what lies elsewhere is named", async () => {
  await fill();
  const database = openSqlite(join(dataDir, STORE_FILE));
  const move = "UPDATE connections SET settings = json_set(settings, '$.folder', ?) WHERE integration = 'notes'";
  database.prepare(move).run(join(place, "vault"));
  database.close();
  const folder = join(place, "backups");
  await mkdir(folder);
  const old = ["svc-backup-20200101T000000Z.tar.gz", "svc-backup-20200102T000000Z.tar.gz", "own.tar.gz"];
  for (const name of old) await writeFile(join(folder, name), "");
  const svc = (...args: string[]) => runSvc(["backup", ...args, "--keep", "2", "--data", dataDir], place);
  const refused = await svc(join(place, "a.tar.gz"));
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("is no folder")]);
  expect(await readdir(folder)).toHaveLength(3);
  const made = await svc(folder);
  expect(made.stdout).toContain(`${join(place, "vault")} (`);
  expect(made.stdout).not.toContain("mail (");
  const left = (await readdir(folder)).sort();
  expect(left).toEqual([old[2], old[1], expect.stringMatching(/^svc-backup-20[2-9]\d{5}T\d{6}Z\.tar\.gz$/)]);
  expect(left).not.toContain(old[0]);
});
