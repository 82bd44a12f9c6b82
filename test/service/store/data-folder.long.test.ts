import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSignInLink } from "../../../src/service/create-sign-in-link.ts";
import { openService } from "../../../src/service/open-service.ts";
import { openSqlite } from "../../../src/service/store/open-sqlite.ts";
import { openStore } from "../../../src/service/store/open-store.ts";
import { decideAsOwner } from "../../../src/service/test-kit/decide-as-owner.ts";
import { isSvcError, type SvcError } from "../../../src/shared/errors.ts";
import { pairStartReplySchema } from "../../../src/shared/wire/registration.ts";
import { startTestService } from "../../../src/testing.ts";
import { openBrowser } from "../http/pages/browser.ts";
import { call, execute, post } from "../http-calls.ts";
import { createLab } from "../lab-integration.ts";
import { killChild, killChildren, serveChild } from "../served-child.ts";

const CHILD = fileURLToPath(new URL("./serve-child.ts", import.meta.url));

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-folder-"));
});
afterEach(async () => {
  await killChildren();
  await rm(folder, { recursive: true, force: true });
});

const serve = (dataDir: string) => serveChild(CHILD, dataDir);

async function refusal(work: Promise<unknown>): Promise<SvcError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isSvcError(error)) throw new Error(`Not refused: ${String(error)}`);
  return error;
}

describe("one writer per data folder", () => {
  test("a second service is refused and told who serves", async () => {
    const first = await serve(folder);
    const error = await refusal(openService({ dataDir: folder, port: 0 }));
    expect(error).toMatchObject({ code: "invalid_config", field: "dataDir" });
    expect(error.message).toContain(`process ${first.process.pid}`);
    expect(error.hint).toContain("stop that process");
    expect((await call(`${first.url}/health`)).status).toBe(200);
  });

  test("the same process is refused too, and may open the folder again after closing", async () => {
    const first = await openService({ dataDir: folder, port: 0 });
    expect((await refusal(openService({ dataDir: folder, port: 0 }))).message).toContain(`process ${process.pid}`);
    await first.close();
    await first.close();
    await (await openService({ dataDir: folder, port: 0 })).close();
  });

  test("a service that cannot say that it serves, or no longer, gives the folder back", async () => {
    const owner = join(folder, "serving.json");
    await mkdir(join(owner, "in the way"), { recursive: true });
    await expect(openService({ dataDir: folder, port: 0 })).rejects.toThrow("serving.json");
    await rm(owner, { recursive: true });
    const logged: string[] = [];
    const second = await openService({ dataDir: folder, port: 0, log: ({ message }) => logged.push(message) });
    await rm(owner);
    await mkdir(join(owner, "in the way"), { recursive: true });
    await expect(second.close()).rejects.toThrow("serving.json");
    expect(logged).toContain("A part of the service could not be closed.");
    await rm(owner, { recursive: true });
    await (await openService({ dataDir: folder, port: 0 })).close();
  });

  test("of five that start at one time one wins", async () => {
    const starts = await Promise.allSettled(
      Array.from({ length: 5 }, () => openService({ dataDir: folder, port: 0, integrations: [] })),
    );
    const won = starts.filter((start) => start.status === "fulfilled");
    expect(won).toHaveLength(1);
    for (const start of won) await start.value.close();
  });

  test("the lock of a killed process is free", async () => {
    await killChild(await serve(folder));
    expect(await readdir(folder)).toContain("serving.json");
    await (await openService({ dataDir: folder, port: 0 })).close();
  });
});

describe("kill -9", () => {
  test("no key that was handed out is lost, and none is shown twice", async () => {
    const lab = createLab();
    for (let round = 0; round < 3; round++) {
      const child = await serve(folder);
      const session = pairStartReplySchema.parse((await post(`${child.url}/api/plugin/pair/start`)).json);
      const { pairUrl } = session;
      await decideAsOwner({ signInUrl: await createSignInLink({ dataDir: folder }), pairUrl, decision: "approve" });
      const exchange = (url: string) =>
        post(`${url}/api/plugin/pair/sessions/${session.sessionToken}/exchange`, { verifier: session.verifier });
      const { status, json } = await exchange(child.url);
      await killChild(child);
      expect(status).toBe(200);

      const after = await startTestService({ dataDir: folder, integrations: [lab.integration] });
      expect((await call(`${after.url}/api/tools`, { key: json.apiKey })).status).toBe(200);
      expect((await exchange(after.url)).status).toBe(409);
      await after.close();
    }
  }, 60_000);

  test("a write that was running is closed as unknown, and finished ones stay", async () => {
    const child = await serve(folder);
    const done = await execute(child, "lab_put", { arguments: { title: "T" }, confirmed: true });
    expect(done.status).toBe(200);
    const hanging = execute(child, "lab_wait", { arguments: {}, confirmed: true }).catch(() => undefined);
    const store = await openStore(join(folder, "svc.db"));
    await expect
      .poll(() => store.selectFrom("executions").select("status").where("tool_name", "=", "lab_wait").execute())
      .toEqual([{ status: "started" }]);
    await store.destroy();
    await killChild(child);
    await hanging;

    const after = await startTestService({ dataDir: folder, integrations: [createLab().integration] });
    try {
      const effects = await after.effects();
      expect(effects.map(({ toolName, status }) => [toolName, status])).toEqual([
        ["lab_put", "succeeded"],
        ["lab_wait", "failed"],
      ]);
    } finally {
      await after.close();
    }
  });

  test("a read that was running is told of too, though its start did not wait for the disk", async () => {
    const child = await serve(folder);
    const hanging = execute(child, "lab_fail", { arguments: { how: "hang" } }).catch(() => undefined);
    const store = await openStore(join(folder, "svc.db"));
    const read = () => store.selectFrom("executions").select(["status", "error"]).execute();
    await expect.poll(read).toEqual([{ status: "started", error: null }]);
    await killChild(child);
    await hanging;

    const after = await startTestService({ dataDir: folder, integrations: [createLab().integration] });
    await after.close();
    const [row] = await read();
    await store.destroy();
    expect(row?.status).toBe("failed");
    expect(JSON.parse(row?.error ?? "")).toMatchObject({ code: "outcome_unknown" });
  });
});

describe("the folder itself", () => {
  test("is made for its owner alone", async () => {
    const dataDir = join(folder, "a", "b");
    const service = await openService({ dataDir, port: 0 });
    try {
      const mode = async (name: string) => ((await stat(join(dataDir, name))).mode & 0o777).toString(8);
      expect(await mode(".")).toBe("700");
      for (const name of ["svc.db", "svc.db-wal", "lock.db", "serving.json", "ingest-secret"]) {
        expect([name, await mode(name)]).toEqual([name, "600"]);
      }
    } finally {
      await service.close();
    }
  });

  test("a file in its place, or a folder that cannot be written, is refused", async () => {
    await writeFile(join(folder, "file"), "");
    const inFile = await refusal(openService({ dataDir: join(folder, "file", "data"), port: 0 }));
    expect(inFile).toMatchObject({ code: "invalid_config", field: "dataDir" });
    if (process.getuid?.() === 0) return;
    await mkdir(join(folder, "closed"));
    await chmod(join(folder, "closed"), 0o500);
    expect(await refusal(openService({ dataDir: join(folder, "closed"), port: 0 }))).toMatchObject({
      field: "dataDir",
    });
  });

  test("that another version has changed is refused, and left as it is", async () => {
    await (await openService({ dataDir: folder, port: 0 })).close();
    const database = openSqlite(join(folder, "svc.db"));
    database.exec("INSERT INTO kysely_migration VALUES ('9999-later', '2030-01-01T00:00:00.000Z')");
    database.close();
    const error = await refusal(openService({ dataDir: folder, port: 0 }));
    expect(error).toMatchObject({ code: "invalid_config", field: "dataDir" });
    expect(error.message).toBe("Another version has changed this database (9999-later).");
    expect(error.hint).toContain("restore the backup");
  });

  test("a login link for a folder that nobody serves is refused", async () => {
    const error = await refusal(createSignInLink({ dataDir: folder }));
    expect(error.hint).toContain("svc serve");
    expect(await refusal(createSignInLink({ dataDir: join(folder, "nope") }))).toMatchObject({ field: "dataDir" });
  });

  test("a login link made by another process signs in", async () => {
    const child = await serve(folder);
    const link = await createSignInLink({ dataDir: folder });
    expect(link.startsWith(`${child.url}/sign-in?token=`)).toBe(true);
    expect((await openBrowser().open(link)).status).toBe(303);
    expect((await call(link)).status).toBe(410);
  });
});
