import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openSourceAdmin } from "../../../src/service/added/open-source-admin.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { execute } from "../http-calls.ts";

/** `svc add` writes to the database of a service that is busy writing to it too. */

const CHILD = fileURLToPath(new URL("admin-child.ts", import.meta.url));
const ROUNDS = 40;
const CALLERS = 8;

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

test("adding, replacing and removing apps beside running writes disturbs neither", async () => {
  let isDone = false;
  const answers: string[] = [];
  const call = async (caller: number) => {
    for (let count = 0; !isDone; count += 1) {
      const args = { title: `Page ${caller}-${count}`, body: "x" };
      const { status, json } = await execute(service, "notes_create_page", { arguments: args, confirmed: true });
      answers.push(`${status} ${json.error?.message ?? "done"}`);
    }
  };
  const calling = Array.from({ length: CALLERS }, (_, caller) => call(caller));
  const changing = [0, 1].map(() => promisify(execFile)(process.execPath, [CHILD, service.dataDir, String(ROUNDS)]));
  const changed = await Promise.allSettled(changing);
  isDone = true;
  await Promise.all(calling);
  const problems = changed.map((result) => (result.status === "rejected" ? String(result.reason) : "done"));
  expect(problems).toEqual(["done", "done"]);
  expect(new Set(answers)).toEqual(new Set(["200 done"]));
  const admin = await openSourceAdmin({ dataDir: service.dataDir });
  expect(await admin.list()).toHaveLength((2 * ROUNDS) / 2);
  await admin.close();
}, 60_000);
