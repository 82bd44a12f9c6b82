import { execFileSync } from "node:child_process";
import {
  chmod,
  cp,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeBackup } from "../../../src/service/backup/make-backup.ts";
import { checkBackup, restoreBackup } from "../../../src/service/backup/restore-backup.ts";
import { startTestService } from "../../../src/testing.ts";
import { runSvc } from "../../e2e/run-svc.ts";

/** Backups of somebody else: what is in them was chosen by whoever made them, digests and counts too. */

const MAKE_FIFO = "mkfifo";

let place: string;
let file: string;
let outside: string;
/** Content of the archive before it is packed. */
let content: string;
const tar = (...args: string[]) => execFileSync("tar", args);

beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), "svc-foreign-"));
  file = join(place, "backup.tar.gz");
  outside = join(place, "outside");
  content = join(place, "content");
  const dataDir = join(place, "theirs");
  const service = await startTestService({ dataDir });
  await service.close();
  await makeBackup({ dataDir, file, now: 0 });
  for (const folder of [outside, content]) await mkdir(folder);
  tar("-xzf", file, "-C", content);
  await cp(content, join(outside, "victim"), { recursive: true });
});
afterEach(() => rm(place, { recursive: true, force: true }));

/** Packs the content with facts that fit it. */
async function pack(): Promise<void> {
  const facts = JSON.parse(await readFile(join(content, "backup.json"), "utf8"));
  const entries = await readdir(content, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() || entry.isSymbolicLink()).length - 1;
  await writeFile(join(content, "backup.json"), JSON.stringify({ ...facts, files }));
  tar("-czf", file, "-C", content, ".");
}

const at = (name: string) => join(content, name);
const victim = (name: string) => join(outside, "victim", name);
async function replaceByLink(name: string): Promise<void> {
  await rm(at(name), { recursive: true, force: true });
  await symlink(victim(name), at(name));
}

const ATTACKS: Readonly<Record<string, () => Promise<unknown>>> = {
  "a database that is a link": () => replaceByLink("svc.db"),
  "a key file that is a link": () => replaceByLink("connection-secrets.key"),
  "a drive that is a link": () => replaceByLink("drive"),
  "blobs that are a link": () => replaceByLink("blobs"),
  "a link to nowhere": () => symlink("/nowhere", at("later")),
  "a link deep inside": async () => {
    await mkdir(at("drive/a/b"), { recursive: true });
    await symlink("../../../..", at("drive/a/b/up"));
  },
  "two names of one file": () => link(at("svc.db"), at("drive-copy")),
  "a pipe": async () => execFileSync(MAKE_FIFO, [at("pipe")]),
  "a name that moves the cursor": () => writeFile(at("a\u001b[2Jb"), ""),
  "a name of two lines": () => writeFile(at("a\nb"), ""),
  "a database's log": () => writeFile(at("svc.db-wal"), "log"),
  "the mark of a running service": () => writeFile(at("serving.json"), "{}"),
};

test.each(Object.keys(ATTACKS))("%s is refused with a sentence, and nothing outside changes", async (what) => {
  await ATTACKS[what]?.();
  await pack();
  const before = await readFile(victim("svc.db"));
  const dataDir = join(place, "mine");
  const refusal = { code: "invalid_config", field: "file", message: expect.stringMatching(/no backup of svc does/) };
  await expect(restoreBackup({ file, dataDir, now: 0, replace: false })).rejects.toMatchObject(refusal);
  await expect(checkBackup(file, place)).rejects.toMatchObject(refusal);
  expect(await readFile(victim("svc.db"))).toEqual(before);
  expect(await readdir(place)).toEqual(["backup.tar.gz", "content", "outside", "theirs"]);
});

test("modes of the archive count for nothing", async () => {
  await mkdir(at("drive/open"), { recursive: true });
  await writeFile(at("drive/open/run"), "#!/bin/sh");
  await chmod(at("drive/open/run"), 0o4777);
  await chmod(at("drive/open"), 0o777);
  await pack();
  const dataDir = join(place, "mine");
  await restoreBackup({ file, dataDir, now: 0, replace: false });
  const mode = async (name: string) => (await stat(join(dataDir, name))).mode & 0o7777;
  expect([await mode("drive/open/run"), await mode("drive/open"), await mode(".")]).toEqual([0o600, 0o700, 0o700]);
});

test("what is unpacked belongs to whoever restores, also for root", async () => {
  await pack();
  tar("-czf", file, "--owner=12345", "--group=12345", "-C", content, ".");
  const dataDir = join(place, "mine");
  await restoreBackup({ file, dataDir, now: 0, replace: false });
  const entries = await readdir(dataDir, { recursive: true });
  for (const name of [".", ...entries]) {
    const { uid, gid } = await stat(join(dataDir, name));
    expect([name, uid, gid]).toEqual([name, process.getuid?.(), process.getgid?.()]);
  }
});

test("links in a data folder stay out of its backup, which says so and can be restored", async () => {
  const dataDir = join(place, "theirs");
  await rename(file, join(place, "first"));
  await mkdir(join(dataDir, "drive"), { recursive: true });
  await symlink("/etc", join(dataDir, "drive/etc"));
  const made = await runSvc(["backup", file, "--data", dataDir], place);
  expect(made.stdout).toContain(`Links and the like are not in it:\n  ${join(dataDir, "drive/etc")}`);
  expect(await checkBackup(file, place)).toMatchObject({ dataDir });
});

test("restoring and checking print which programs will start and who may sign in", async () => {
  const dataDir = join(place, "armed");
  const service = await startTestService({ dataDir });
  await service.createKey("Laptop\u001b[2J");
  const run = (...args: string[]) => runSvc([...args, "--data", dataDir], place);
  expect((await run("people", "invite", "Mallory")).code).toBe(0);
  expect((await run("rules", "add", "allow", "notes_create_page", "--yes")).code).toBe(0);
  const server = join(place, "server.mjs");
  await writeFile(server, SERVER);
  const program = ["evil", "--yes", "--data", dataDir, "--", process.execPath, server];
  expect((await runSvc(["add", "mcp", ...program], place)).code).toBe(0);
  await service.close();
  const armed = join(place, "armed.tar.gz");
  await run("backup", armed);
  const checked = await runSvc(["restore", armed, "--check"], place);
  const restored = await runSvc(["restore", armed, "--data", join(place, "mine")], place);
  for (const { stdout } of [checked, restored]) {
    expect(stdout).toContain(`Programs that its service starts:\n  evil: ${process.execPath} ${server}`);
    expect(stdout).toMatch(/People who may sign in:\n(?: {2}.*\n)* {2}Mallory \(approver, 0 passkeys\)/);
    expect(stdout).toMatch(/Keys that work:\n(?: {2}.*\n)* {2}Laptop/);
    expect(stdout).toContain("Apps with access by OAuth: none.");
    expect(stdout).toContain("Calls that run without a question:\n  allow notes_create_page");
    expect(stdout).not.toContain("\u001b[2J");
  }
});

/** The smallest MCP server. */
const SERVER = `
import { createInterface } from "node:readline";
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result =
    method === "initialize"
      ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }
      : { tools: [{ name: "look", description: "Looks.", inputSchema: { type: "object" } }] };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
}
`;

test("a backup whose database is not the one that was saved is refused", async () => {
  const database = await readFile(at("svc.db"));
  // Bytes behind the last page change nothing that SQLite would notice.
  await writeFile(at("svc.db"), Buffer.concat([database, Buffer.alloc(1)]));
  await pack();
  const dataDir = join(place, "mine");
  await expect(checkBackup(file, place)).rejects.toThrow("damaged");
  await expect(restoreBackup({ file, dataDir, now: 0, replace: false })).rejects.toThrow("damaged");
  expect(await readdir(place)).not.toContain("mine");
});
