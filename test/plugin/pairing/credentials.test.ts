import { execFile } from "node:child_process";
import {
  chmod,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Credentials, openCredentialStore, type PendingPairing } from "../../../src/plugin/pairing/credentials.ts";
import { withWriteLock } from "../../../src/shared/base/write-lock.ts";
import { verifies } from "../../contract/verifies.ts";
import { expectMode } from "../../suites/this-system.ts";
import { catchError } from "../client/recording-server.ts";

/** Lets a test end the file operations of a write at a chosen one, as a crash would. */
const crash = vi.hoisted(() => ({ at: undefined as string | undefined }));
vi.mock("node:fs/promises", async (importOriginal) => {
  const real = await importOriginal<typeof import("node:fs/promises")>();
  const failAt = (step: string) => {
    if (crash.at === step) throw Object.assign(new Error(`crash at ${step}`), { code: "ECRASH" });
  };
  return {
    ...real,
    open: async (...args: Parameters<typeof real.open>) => {
      if (String(args[0]).endsWith(".tmp")) failAt("open");
      const handle = await real.open(...args);
      if (!String(args[0]).endsWith(".tmp")) return handle;
      const write = handle.writeFile.bind(handle);
      handle.writeFile = async (text) => {
        if (crash.at === "write") await write(String(text).slice(0, 20));
        failAt("write");
        return write(text);
      };
      const sync = handle.sync.bind(handle);
      handle.sync = async () => {
        failAt("sync");
        return sync();
      };
      return handle;
    },
    rename: async (...args: Parameters<typeof real.rename>) => {
      failAt("rename");
      return real.rename(...args);
    },
  };
});

const CREDENTIALS: Credentials = {
  baseUrl: "https://svc.example",
  apiKey: "svc_live_stored",
  apiKeyId: "17",
  deviceLabel: "desk",
  pairedAt: "2026-01-05T10:00:00.000Z",
};
const PENDING: PendingPairing = {
  baseUrl: "https://svc.example",
  sessionToken: "st_1",
  verifier: "v_1",
  pairUrl: "https://svc.example/pair/st_1",
  startedAt: "2026-01-05T10:00:00.000Z",
  expiresAt: "2026-01-05T10:15:00.000Z",
};
let folder: string;

beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), "svc-credentials-")), "svc");
});
afterEach(async () => {
  crash.at = undefined;
  await rm(join(folder, ".."), { recursive: true, force: true });
});

describe("the credential file", () => {
  test("keeps what was written, readable by its owner alone", async () => {
    verifies("pair.client-stores-key");
    const store = openCredentialStore(folder);
    expect(await store.read()).toBeUndefined();
    await store.write(CREDENTIALS);
    expect(await openCredentialStore(folder).read()).toEqual(CREDENTIALS);
    expect(store.path).toBe(join(folder, "credentials.json"));
    expectMode(store.path, 0o600);
    expectMode(folder, 0o700);
    expect(await readdir(folder)).toEqual(["credentials.json"]);
  });

  test("is not made by reading, and forgetting leaves nothing", async () => {
    const store = openCredentialStore(folder);
    expect(await store.readPending()).toBeUndefined();
    await expect(stat(folder)).rejects.toThrow("ENOENT");
    await store.clear();
    await store.write(CREDENTIALS);
    await store.writePending(PENDING);
    await store.clear();
    expect(await readdir(folder)).toEqual([]);
  });

  test("keeps credentials and pending pairing apart; storing credentials ends the pairing in the same step", async () => {
    const store = openCredentialStore(folder);
    await store.write(CREDENTIALS);
    await store.writePending(PENDING);
    expect([await store.read(), await store.readPending()]).toEqual([CREDENTIALS, PENDING]);
    await store.clearPending();
    expect([await store.read(), await store.readPending()]).toEqual([CREDENTIALS, undefined]);
    await store.writePending(PENDING);
    await store.write({ ...CREDENTIALS, apiKeyId: "18" });
    expect([(await store.read())?.apiKeyId, await store.readPending()]).toEqual(["18", undefined]);
  });

  test("takes the right to write its folder from others", async () => {
    await mkdir(folder);
    await chmod(folder, 0o777);
    await openCredentialStore(folder).write(CREDENTIALS);
    expectMode(folder, 0o755);
  });
});

describe("a file that cannot be trusted is refused with the fix", () => {
  const put = async (mode = 0o600) => {
    const store = openCredentialStore(folder);
    await store.write(CREDENTIALS);
    await chmod(store.path, mode);
    return store;
  };

  test.each([0o640, 0o604, 0o660, 0o644, 0o666])("mode %o", async (mode) => {
    const store = await put(mode);
    for (const use of [store.read, store.readPending, () => store.write(CREDENTIALS), store.clearPending]) {
      const error = await catchError(use);
      expect(error).toMatchObject({ code: "invalid_config", field: "credentials" });
      expect(error).toHaveProperty("hint", expect.stringContaining(`chmod 600 '${store.path}'`));
      expect(String(error)).not.toContain(CREDENTIALS.apiKey);
    }
    await chmod(store.path, 0o600);
    expect(await store.read()).toEqual(CREDENTIALS);
  });

  test("a symbolic link", async () => {
    await mkdir(folder, { recursive: true });
    const target = join(folder, "elsewhere.json");
    await writeFile(target, JSON.stringify({ version: 1, credentials: CREDENTIALS }), { mode: 0o600 });
    const store = openCredentialStore(folder);
    await symlink(target, store.path);
    expect(await catchError(store.read)).toHaveProperty("message", expect.stringContaining("symbolic link"));
    expect(await catchError(() => store.write(CREDENTIALS))).toMatchObject({ code: "invalid_config" });
    await store.clear();
    expect(await readFile(target, "utf8")).toContain(CREDENTIALS.apiKey);
    await expect(lstat(store.path)).rejects.toThrow("ENOENT");
  });

  test("another user's file", async () => {
    await put();
    const stranger = openCredentialStore(folder, { uid: (process.getuid?.() ?? 0) + 1 });
    expect(await catchError(stranger.read)).toHaveProperty("message", expect.stringContaining("another user"));
  });

  test("a folder in its place, and a file in the place of its folder", async () => {
    const store = openCredentialStore(folder);
    await mkdir(store.path, { recursive: true });
    expect(await catchError(store.read)).toHaveProperty("message", expect.stringContaining("not a regular file"));
    await rm(folder, { recursive: true });
    await writeFile(folder, "");
    expect(await catchError(store.read)).toMatchObject({ code: "invalid_config" });
    expect(await catchError(() => store.write(CREDENTIALS))).toMatchObject({ code: "invalid_config" });
  });

  test("an endless pipe does not hang the reader", async () => {
    await mkdir(folder, { recursive: true });
    await promisify(execFile)("mkfifo", ["-m", "600", join(folder, "credentials.json")]);
    const error = await catchError(openCredentialStore(folder).read);
    expect(error).toHaveProperty("message", expect.stringContaining("not a regular file"));
  });

  test("a far too large file", async () => {
    const store = await put();
    await writeFile(store.path, Buffer.alloc(70_000));
    expect(await catchError(store.read)).toHaveProperty("message", expect.stringContaining("too large"));
  });

  test("a file of a newer version stays where it is", async () => {
    const store = await put();
    await writeFile(store.path, JSON.stringify({ version: 2, vault: true }));
    expect(await catchError(store.read)).toMatchObject({ code: "unsupported" });
    expect(await catchError(() => store.write(CREDENTIALS))).toMatchObject({ code: "unsupported" });
    expect(await readFile(store.path, "utf8")).toContain("vault");
  });
});

describe("a damaged file", () => {
  const DAMAGES = ["", "{", "null", "[]", '{"version":1,"credentials":{}}', '{"version":"1"}', "\0\0\0"];
  const damage = async (text: string) => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, "credentials.json");
    await writeFile(path, text, { mode: 0o600 });
    return openCredentialStore(folder, { now: () => Date.UTC(2026, 0, 5) });
  };
  const ASIDE = "credentials.json.corrupt-2026-01-05T00-00-00-000Z";

  test.each(DAMAGES)("(%j) is kept aside and explained once", async (text) => {
    const store = await damage(text);
    const error = await catchError(store.read);
    expect(error).toMatchObject({ code: "credentials_missing", field: "credentials" });
    expect(error).toHaveProperty("message", expect.stringContaining(ASIDE));
    expect(await readFile(join(folder, ASIDE), "utf8")).toBe(text);
    expect(await store.read()).toBeUndefined();
    await store.write(CREDENTIALS);
    expect(await store.read()).toEqual(CREDENTIALS);
  });

  test("does not stop a new pairing", async () => {
    const store = await damage("{");
    expect(await store.readPending()).toBeUndefined();
    await store.writePending(PENDING);
    expect(await store.readPending()).toEqual(PENDING);
    expect((await readdir(folder)).sort()).toEqual(["credentials.json", ASIDE]);
  });
});

describe("a crash while writing", () => {
  test.each(["open", "write", "sync", "rename"])("at %s leaves the old content whole", async (step) => {
    const store = openCredentialStore(folder);
    await store.write(CREDENTIALS);
    crash.at = step;
    const error = await catchError(() => store.write({ ...CREDENTIALS, apiKey: "svc_live_newer" }));
    expect(error).toMatchObject({ code: "invalid_config" });
    crash.at = undefined;
    expect(await openCredentialStore(folder).read()).toEqual(CREDENTIALS);
    await store.write({ ...CREDENTIALS, apiKey: "svc_live_newer" });
    expect((await store.read())?.apiKey).toBe("svc_live_newer");
    expect(await readdir(folder)).toEqual(["credentials.json"]);
  });

  test("leaves a lock that the next writer takes over", async () => {
    await mkdir(folder, { recursive: true });
    const lock = join(folder, "credentials.json.lock");
    const store = openCredentialStore(folder);
    // A process id beyond any limit of the system: that process is gone.
    const own = await withWriteLock(lock, () => readFile(lock, "utf8"));
    await writeFile(lock, own.replace(String(process.pid), "999999999"));
    await store.write(CREDENTIALS);
    // Left before its owner had put its name in, a while ago.
    await writeFile(lock, "");
    await utimes(lock, new Date(0), new Date(0));
    await store.writePending(PENDING);
    expect(await readdir(folder)).toEqual(["credentials.json"]);
    expect(await store.readPending()).toEqual(PENDING);
  });

  test("a hard link to the file keeps its old content: the file is replaced, not rewritten", async () => {
    const store = openCredentialStore(folder);
    await store.write(CREDENTIALS);
    const other = join(folder, "..", "linked.json");
    await link(store.path, other);
    await store.write({ ...CREDENTIALS, apiKey: "svc_live_newer" });
    expect(await readFile(other, "utf8")).not.toContain("svc_live_newer");
  });
});

describe("several writers", () => {
  test("in one process do not undo each other", async () => {
    const store = openCredentialStore(folder);
    await store.write(CREDENTIALS);
    await Promise.all([
      ...Array.from({ length: 10 }, (_, index) => store.writePending({ ...PENDING, sessionToken: `st_${index}` })),
      openCredentialStore(folder).writePending(PENDING),
    ]);
    expect(await store.read()).toEqual(CREDENTIALS);
    expect(await store.readPending()).toMatchObject({ verifier: "v_1" });
  });

  test("in two processes do not undo each other, and no reader sees half a file", async () => {
    const store = openCredentialStore(folder);
    await store.write(CREDENTIALS);
    const module = new URL("../../../src/plugin/pairing/credentials.ts", import.meta.url).href;
    const script = `
      const { openCredentialStore } = await import(${JSON.stringify(module)});
      const store = openCredentialStore(${JSON.stringify(folder)});
      for (let turn = 0; turn < 40; turn += 1) {
        await store.writePending({ ...${JSON.stringify(PENDING)}, sessionToken: process.argv[1] + turn });
        const [kept, pending] = [await store.read(), await store.readPending()];
        if (kept?.apiKey !== ${JSON.stringify(CREDENTIALS.apiKey)} || !pending) throw new Error("lost");
      }`;
    const run = (name: string) =>
      promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script, name]);
    await Promise.all([run("a"), run("b")]);
    expect(await store.read()).toEqual(CREDENTIALS);
    expect(await store.readPending()).toMatchObject({ sessionToken: expect.stringMatching(/^[ab]39$/) });
    expect(await readdir(folder)).toEqual(["credentials.json"]);
  });
});
