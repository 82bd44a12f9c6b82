import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { call } from "../../service/http-calls.ts";
import { killChild, killChildren, serveChild } from "../../service/served-child.ts";
import { fillApp, runWrite } from "../kit/every-write.ts";

const CHILD = fileURLToPath(new URL("served-apps.ts", import.meta.url));
const MAIL = { to: ["me@localhost"], subject: "Quote", body: "See." };

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-waiting-"));
});
afterEach(async () => {
  await killChildren();
  await rm(folder, { recursive: true, force: true });
});

const listSent = () => readdir(join(folder, "mail/.Sent/cur")).catch(() => []);

/** The call in the log, once there is one. */
function readCall() {
  const database = new DatabaseSync(join(folder, "svc.db"), { readOnly: true });
  try {
    return database.prepare("select id, status, error, waits_until from executions").get();
  } finally {
    database.close();
  }
}

test("a mail that waited when its service was killed is not sent, and the log says so", async () => {
  await fillApp(folder, "mail");
  let service = await serveChild(CHILD, folder, "60");
  const running = runWrite(service, "mail_send_message", MAIL).catch(() => "cut off");
  await expect.poll(() => readCall()?.waits_until).toEqual(expect.any(String));
  await killChild(service);
  expect(await running).toBe("cut off");
  service = await serveChild(CHILD, folder, "60");
  await expect.poll(() => readCall()?.status, { timeout: 10_000 }).toBe("failed");
  const { id, error, waits_until } = readCall() ?? {};
  expect(waits_until).toBeNull();
  const { json } = await call(`${service.url}/api/executions/${id}`, { key: service.apiKey });
  expect(json).toMatchObject({ status: "failed" });
  expect(json.message).toBe("The service stopped before this was begun. Nothing was done.");
  expect(json.outcome_unknown).toBeUndefined();
  expect(String(error)).toContain('"not_done"');
  expect(await listSent()).toEqual([]);
});
