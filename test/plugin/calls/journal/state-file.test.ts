import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openStateFile } from "../../../../src/plugin/calls/journal/state-file.ts";
import { isSvcError, type SvcError } from "../../../../src/shared/errors.ts";
import { runCommand } from "../../../package/run-command.ts";
import { expectMode, IS_WINDOWS } from "../../../suites/this-system.ts";
import { closeAll, closeLater, makeFolder } from "../open-test-session.ts";

const SOURCE = new URL("../../../../src/", import.meta.url);
let folder: string;
let path: string;

beforeEach(async () => {
  folder = join(await makeFolder(), "state");
  path = join(folder, "state.db");
});
afterEach(closeAll);

async function open() {
  const state = await openStateFile(folder);
  if (state === undefined) throw new Error("There is no node:sqlite here.");
  closeLater({ close: async () => state.close() });
  return state;
}

/** Why it cannot be opened. */
async function readRefusal(): Promise<SvcError> {
  const error: unknown = await openStateFile(folder).catch((thrown: unknown) => thrown);
  if (!isSvcError(error)) throw new Error("It was opened, or ended otherwise.", { cause: error });
  return error;
}

test("is one file that only its owner can read, and so is everything beside it", async () => {
  const state = await open();
  await state.change(() => void state.prepare("INSERT INTO accounts VALUES ('drive', 'con_1')").run());
  expectMode(folder, 0o700);
  const names = await readdir(folder);
  expect(names).toContain("state.db");
  for (const name of names) expectMode(join(folder, name), 0o600);
  state.close();
  // Where processes share no memory, an empty journal stays.
  expect(await readdir(folder)).toEqual(IS_WINDOWS ? ["state.db", "state.db-journal"] : ["state.db"]);
});

test("syncs every change to the disk before it says that it is done", async () => {
  const state = await open();
  // 2 is FULL.
  expect(state.prepare("PRAGMA synchronous").get()?.synchronous).toBe(2);
});

test("is made once by many processes that open it first at the same time", async () => {
  const module = new URL("plugin/calls/journal/state-file.ts", SOURCE).href;
  const source = `
    const { openStateFile } = await import(${JSON.stringify(module)});
    const state = await openStateFile(${JSON.stringify(folder)});
    await state.change(() => state.prepare("INSERT INTO accounts VALUES (?, 'con')").run(String(process.pid)));
    state.close();`;
  const args = ["--input-type=module", "--eval", source];
  const runs = await Promise.all(
    Array.from({ length: 8 }, () => runCommand(process.execPath, args, import.meta.dirname)),
  );
  expect(runs.map(({ code, stderr }) => `${code} ${stderr}`)).toEqual(runs.map(() => "0 "));
  expect((await open()).prepare("SELECT count(*) AS count FROM accounts").get()).toEqual({ count: 8 });
});

test("keeps the form it has on a file system that several machines share, and is shared all the same", async () => {
  (await open()).close();
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = DELETE");
  database.close();
  const [here, there] = [await open(), await open()];
  expect(there.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "truncate" });
  await Promise.all(
    [here, there].map((state, index) =>
      state.change(() => void state.prepare("INSERT INTO accounts VALUES (?, 'con_1')").run(`app${index}`)),
    ),
  );
  expect(here.prepare("SELECT integration FROM accounts ORDER BY integration").all()).toEqual([
    { integration: "app0" },
    { integration: "app1" },
  ]);
});

test("finishes the changes that wait when it is closed", async () => {
  const state = await open();
  const changed = state.change(() => state.prepare("INSERT INTO accounts VALUES ('drive', 'con_1')").run());
  state.close();
  await changed;
  expect((await open()).prepare("SELECT integration FROM accounts").all()).toEqual([{ integration: "drive" }]);
});

test("a change that fails takes nothing of the others with it", async () => {
  const state = await open();
  const insert = (name: string | null) =>
    state.change(() => void state.prepare("INSERT INTO accounts VALUES (?, 'con_1')").run(name));
  const ends = await Promise.allSettled([insert("a"), insert("a"), insert("b")]);
  expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(state.prepare("SELECT count(*) AS count FROM accounts").get()).toEqual({ count: 2 });
});

describe("is refused, and left as it is,", () => {
  test.each([
    ["with another content", "no database, but long enough to be taken for one ".repeat(20)],
    ["cut off in its first page", undefined],
  ])("%s: the file is named, and what to do", async (_name, text) => {
    (await open()).close();
    await writeFile(path, text ?? (await readFile(path)).subarray(0, 600));
    const before = await readFile(path);
    const error = await readRefusal();
    expect(error).toMatchObject({ code: "invalid_config", field: "stateDir" });
    expect(error.message).toContain(path);
    expect(error.message).toContain("is damaged");
    expect(error.hint).toContain("move state.db");
    expect(await readFile(path)).toEqual(before);
  });

  test("without a table of ours", async () => {
    (await open()).close();
    const database = new DatabaseSync(path);
    database.exec("DROP TABLE calls");
    database.close();
    expect((await readRefusal()).message).toContain("is damaged");
  });

  test("made by a newer version", async () => {
    (await open()).close();
    const database = new DatabaseSync(path);
    database.exec("PRAGMA user_version = 2");
    database.close();
    const error = await readRefusal();
    expect(error.message).toContain("newer version");
    expect(error.hint).toContain("Install");
  });

  test("when its place is taken, or closed to this user", async () => {
    await mkdir(path, { recursive: true });
    expect(await readRefusal()).toMatchObject({ hint: expect.stringContaining("owner and the mode") });
    await writeFile(join(folder, "file"), "");
    folder = join(folder, "file");
    expect((await readRefusal()).message).toContain("EEXIST");
  });

  test.skipIf(IS_WINDOWS)("when its folder is closed to this user", async () => {
    await mkdir(folder);
    await chmod(folder, 0o500);
    const isRoot = process.getuid?.() === 0;
    // Nothing is closed to root.
    if (isRoot) process.seteuid?.(65_534);
    try {
      expect(await readRefusal()).toMatchObject({ hint: expect.stringContaining("owner and the mode") });
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
  });
});

test("without node:sqlite the journal is in memory, and the process says what that means", async () => {
  const module = new URL("plugin/calls/session.ts", SOURCE).href;
  const source = `
    const { createToolSession } = await import(${JSON.stringify(module)});
    const options = { baseUrl: "http://127.0.0.1:1", apiKey: "svc_live_test", stateDir: ${JSON.stringify(folder)} };
    const session = await createToolSession(options);
    await session.journal.record({ callId: "c1", fingerprint: "f1", state: "sending", at: 1, tool: "t" });
    console.log(session.journal.find({ callId: "c1", fingerprint: "f1" }).state);
    await session.close();`;
  const args = ["--no-experimental-sqlite", "--input-type=module", "--eval", source];
  const { code, stdout, stderr } = await runCommand(process.execPath, args, import.meta.dirname);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "sending\n" });
  expect(stderr).toContain("[SVC_STATE_IN_MEMORY] SvcWarning: This runtime has no node:sqlite.");
});
