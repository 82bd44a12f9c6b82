import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { execute } from "../http-calls.ts";
import { killChild, killChildren, serveChild } from "../served-child.ts";
import { startReceiver } from "./receiver.ts";

const CHILD = fileURLToPath(new URL("./serve-child.ts", import.meta.url));
const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const ROUNDS = 12;

afterEach(killChildren);

test("a kill between the hold and the answer of the receiver loses no note, and repeats it under its id", async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const dataDir = await mkdtemp(join(tmpdir(), "svc-note-kill-"));
    const receiver = await startReceiver();
    const serve = () => serveChild(CHILD, dataDir, `webhook:${receiver.url}/`, SECRET);
    receiver.answer = "hang";
    const first = await serve();
    const held = await execute(first, "lab_put", { arguments: { title: "x" }, confirmed: true });
    const { id } = held.json.error.approval;
    // At once in the even rounds, else when the note is under way and nobody knows whether it arrived.
    if (round % 2 === 1) await expect.poll(() => receiver.received.length).toBe(1);
    await killChild(first);
    const before = receiver.received.length;
    receiver.answer = 200;
    const second = await serve();
    await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBe(before + 1);
    const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
    expect(new Set(ids).size).toBe(1);
    for (const { body } of receiver.received)
      expect(JSON.parse(body).data).toMatchObject({ waiting: 1, items: [{ id }] });
    await killChild(second);
    await receiver.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}, 300_000);
