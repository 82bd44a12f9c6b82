import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startTestService, type TestService } from "../../src/testing.ts";
import { closeAll, closeLater } from "../plugin/calls/open-test-session.ts";
import { makeHost } from "./contract.ts";
import type { Answer, Host, ModelCall, Turn } from "./door.ts";
import { DOORS } from "./doors.ts";
import { type Stop, takeTurn } from "./take-turn.ts";

/** Every turn of a conversation in a process of its own, some of which are killed without warning. */

let service: TestService;
let host: Host;
beforeEach(async () => {
  service = closeLater(await startTestService());
  host = await makeHost(service);
});
afterEach(closeAll);

const WRITE: readonly ModelCall[] = [{ id: "w1", name: "notes_create_page", args: { title: "w1", body: "text" } }];

type OneTurn = { readonly at?: Stop; readonly host?: Partial<Host> } & (
  | { readonly calls: readonly ModelCall[] }
  | { readonly saved: string; readonly answers: readonly Answer[] }
);

/** Has a process take one turn; undefined for one that was killed where it said that it stops, or that failed. */
async function take(door: string, { host: change, ...task }: OneTurn): Promise<Turn | undefined> {
  const { turn, isKilled } = await takeTurn(door, { ...task, host: { ...host, ...change } });
  expect(isKilled).toBe(task.at !== undefined);
  return turn;
}

const readTitles = async () => (await service.effects()).map((effect) => effect.arguments.title);

describe.each(DOORS.filter(({ cannot }) => cannot["a killed process"] === undefined).map(({ name }) => name))(
  "%s",
  (door) => {
    const ask = async () => (await take(door, { calls: WRITE }))?.saved ?? expect.fail("It asked nothing.");

    it("runs a call once that one process asks about, and others answer", async () => {
      const saved = await ask();
      const ended = await take(door, { saved, answers: ["approve"] });
      expect(ended?.told.join()).toContain("succeeded");
      await take(door, { saved, answers: ["approve"] });
      expect(await readTitles()).toEqual(["w1"]);
    });

    it("never repeats a call whose process was killed between the yes and the request", async () => {
      const saved = await ask();
      await take(door, { saved, answers: ["approve"], at: "sending" });
      expect(await readTitles()).toEqual([]);
      // Nobody knows whether the request had left.
      await take(door, { saved, answers: ["approve"] });
      expect(await readTitles()).toEqual([]);
    });

    it("runs that call once where the service keeps keys", async () => {
      const keyed = { idempotencyKeys: "when_known" } as const;
      const saved = await ask();
      await take(door, { saved, answers: ["approve"], at: "sending", host: keyed });
      await take(door, { saved, answers: ["approve"], host: keyed });
      expect(await readTitles()).toEqual(["w1"]);
    });

    it("runs a call once whose process was killed before it could say how it ended", async () => {
      const saved = await ask();
      await take(door, { saved, answers: ["approve"], at: "finished" });
      expect(await readTitles()).toEqual(["w1"]);
      await take(door, { saved, answers: ["approve"] });
      expect(await readTitles()).toEqual(["w1"]);
    });
  },
);
