import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { placesUnder } from "../../src/cli/context.ts";
import { startTestService, type TestService } from "../../src/testing.ts";
import { closeAll, closeLater, makeFolder } from "../plugin/calls/open-test-session.ts";
import type { Answer, Door, Host, ModelCall, OpenDoor, Turn } from "./door.ts";
import { SITUATIONS, type Situation, type Stage } from "./situations.ts";

/** One contract for every way from a model to its human and back. The service's effect log is the judge. */

let service: TestService;
let host: Host;

const note = (id: string, title = id): ModelCall => ({ id, name: "notes_create_page", args: { title, body: "text" } });
const list = (id: string): ModelCall => ({ id, name: "drive_list_files", args: {} });

async function readTitles(): Promise<unknown[]> {
  return (await service.effects()).map((effect) => effect.arguments.title ?? effect.arguments.folder).sort();
}

/** Answers every question by its text until none is left. */
async function answerAll(door: OpenDoor, first: Turn, decide: (question: string) => Answer): Promise<string[]> {
  const told = [...first.told];
  let turn = first;
  for (let round = 0; turn.questions.length > 0; round += 1) {
    if (round > 6) throw new Error("The questions do not end.");
    turn = await door.resume(turn.saved, turn.questions.map(decide));
    told.push(...turn.told);
  }
  return told;
}

/** A host of a service. Without keys the journal alone keeps a write from being made twice. */
export async function makeHost({ url: baseUrl, apiKey, service }: TestService): Promise<Host> {
  const home = await makeFolder();
  const { state: stateDir, media } = placesUnder(home);
  for (const folder of [stateDir, media]) await mkdir(folder, { recursive: true, mode: 0o700 });
  const signInUrl = () => service.signInUrl();
  return { baseUrl, apiKey, home, stateDir, media, idempotencyKeys: "off", signInUrl };
}

/** Puts a page into the notes of a service that can be found by its name, and not be changed. */
export async function breakPage({ dataDir }: Pick<TestService, "dataDir">, name: string): Promise<void> {
  const notes = join(dataDir, "notes");
  await mkdir(notes, { recursive: true });
  await writeFile(join(notes, `${name}.md`), "---\nnot: [closed\n---\ntext\n");
}

/** The title of a situation: what holds in it, or why it does not come up. */
function title(situation: string, promise: string, reason: string | undefined): string {
  return `${situation}: ${reason === undefined ? promise : `does not come up. ${reason}`}`;
}

/** The tests of one door. */
export function describeDoor(door: Door): void {
  /** Each is a process of its own, as far as one process can play several. */
  const open = async (change: Partial<Host> = {}) => {
    setClock(change);
    return closeLater(await door.open({ ...host, ...change }));
  };
  /** The clock of everything that is open, and of the service where it counts. */
  let clock = Date.now;
  const setClock = ({ now }: Partial<Host>) => {
    if (now !== undefined) clock = now;
  };
  /** The process that takes the answer. */
  const openLater = async (asking: OpenDoor, change: Partial<Host> = {}) => {
    setClock(change);
    if (!door.outlives) return asking;
    await asking.close();
    return open(change);
  };

  const stage = (): Stage => ({
    door,
    host,
    open,
    later: openLater,
    effects: async () => (await service.effects()).map(({ arguments: args }) => args.title ?? args.body),
    breakPage: (name) => breakPage(service, name),
  });

  describe(door.name, () => {
    beforeEach(async () => {
      const { approvals } = door;
      clock = Date.now;
      const now = () => clock();
      service = closeLater(
        await startTestService({ ...(approvals && { approvals }), ...(door.holdsCalls && { now }) }),
      );
      host = { ...(await makeHost(service)), now };
    });
    afterEach(closeAll);

    for (const [name, run] of Object.entries(SITUATIONS)) {
      const reason = door.cannot[name as Situation];
      it.runIf(reason === undefined)(title(name, "nothing unapproved, nothing twice", reason), () => run(stage()));
    }

    it("reads without asking", async () => {
      const turn = await (await open()).start([list("r1")]);
      expect(turn.questions).toEqual([]);
      expect(turn.told.join()).toContain("succeeded");
      expect(await service.effects()).toEqual([]);
    });

    it("shows the whole call and runs it once after a yes, in another process", async () => {
      const asking = await open();
      const turn = await asking.start([note("w1")]);
      expect(turn.questions).toHaveLength(1);
      for (const fact of ["notes_create_page", "title: w1", "writes"]) expect(turn.questions[0]).toContain(fact);
      expect(await service.effects()).toEqual([]);
      const ended = await (await openLater(asking)).resume(turn.saved, ["approve"]);
      expect(ended.questions).toEqual([]);
      expect(ended.told.join()).toContain("succeeded");
      expect(await readTitles()).toEqual(["w1"]);
    });

    it("runs nothing after a no", async () => {
      const asking = await open();
      const turn = await asking.start([note("w1")]);
      const ended = await (await openLater(asking)).resume(turn.saved, ["decline"]);
      expect(ended.questions).toEqual([]);
      expect(ended.told).toHaveLength(1);
      expect(ended.told[0]).not.toContain("succeeded");
      expect(await service.effects()).toEqual([]);
    });

    it.runIf(door.canEdit)("runs what the human typed", async () => {
      const asking = await open();
      const turn = await asking.start([note("w1")]);
      const edit = { title: "typed", body: "text" };
      await (await openLater(asking)).resume(turn.saved, [{ edit }]);
      expect(await readTitles()).toEqual(["typed"]);
    });

    const untimed = door.cannot["a yes that comes too late"];
    it.runIf(untimed === undefined)(title("a yes that comes too late", "nothing runs", untimed), async () => {
      const asking = await open();
      const turn = await asking.start([note("w1")]);
      const late = Date.now() + (door.expiresAfterMs ?? 0) + 60_000;
      await (await openLater(asking, { now: () => late })).resume(turn.saved, ["approve"]);
      expect(await service.effects()).toEqual([]);
    });

    const hasFileLine = door.cannot["a file as a line of the card"] === undefined;
    const noFile = door.cannot["a file that is sent"];
    const noChange = noFile ?? door.cannot["a file that has changed since"];
    it.runIf(noChange === undefined)(title("a file that has changed since", "nothing runs", noChange), async () => {
      const path = join(host.media, "a.txt");
      await writeFile(path, "shown");
      const asking = await open();
      const args = { folder: "In", file: path };
      const turn = await asking.start([{ id: "f1", name: "drive_upload_file", args }]);
      if (hasFileLine) expect(turn.questions[0]).toContain("a.txt, text/plain, 5 bytes");
      await writeFile(path, "other bytes");
      await (await openLater(asking)).resume(turn.saved, ["approve"]);
      expect(await service.effects()).toEqual([]);
    });

    it.runIf(noFile === undefined)(title("a file", "what was shown is sent", noFile), async () => {
      const path = join(host.media, "a.txt");
      await writeFile(path, "shown");
      const asking = await open();
      const turn = await asking.start([{ id: "f1", name: "drive_upload_file", args: { folder: "In", file: path } }]);
      const ended = await (await openLater(asking)).resume(turn.saved, ["approve"]);
      expect(ended.told.join()).toContain("succeeded");
      expect(await readTitles()).toEqual(["In"]);
    });

    it("takes separate answers for calls made at once", async () => {
      const asking = await open();
      const turn = await asking.start([note("yes"), list("r1"), note("no"), note("also")]);
      const told = await answerAll(await openLater(asking), turn, (question) =>
        /title: no$/m.test(question) ? "decline" : "approve",
      );
      expect(await readTitles()).toEqual(["also", "yes"]);
      expect(told).toHaveLength(4);
    });

    it("keeps calls of different conversations apart that the model gave one id", async () => {
      const asking = await open();
      const first = await asking.start([note("c1", "one")]);
      const second = await asking.start([note("c1", "two")]);
      // A service that holds calls joins equal ones.
      const third = door.holdsCalls ? undefined : await asking.start([note("c1", "two")]);
      const answering = await openLater(asking);
      await answering.resume(second.saved, ["approve"]);
      expect(await readTitles()).toEqual(["two"]);
      await answering.resume(first.saved, ["approve"]);
      expect(await readTitles()).toEqual(["one", "two"]);
      if (!door.hasModel || third === undefined) return;
      await answerAll(answering, third, () => "approve");
      expect(await readTitles()).toEqual(["one", "two", "two"]);
    });

    it.runIf(door.hasModel)("runs no call unasked that has the id of an earlier one of its conversation", async () => {
      const asking = await open();
      const turn = await asking.start([note("c1", "one")]);
      const answering = await openLater(asking);
      // Some runtimes drop such a call, or refuse it.
      const second = await answering.resume(turn.saved, ["approve"], [note("c1", "two")]).catch(() => undefined);
      expect(await readTitles()).toEqual(["one"]);
      if (second === undefined || second.questions.length === 0) return;
      const third = await (await openLater(answering)).resume(second.saved, ["approve"], [note("c1", "two")]);
      expect(await readTitles()).toEqual(["one", "two"]);
      await answerAll(await open(), third, () => "decline");
      expect(await readTitles()).toEqual(["one", "two"]);
    });

    it("runs a call once, however often its answer is given", async () => {
      const asking = await open();
      const turn = await asking.start([note("w1")]);
      const answering = await openLater(asking);
      await answering.resume(turn.saved, ["approve"]);
      await answering.resume(turn.saved, ["approve"]).catch(() => undefined);
      await (await openLater(answering)).resume(turn.saved, ["approve"]).catch(() => undefined);
      expect(await readTitles()).toEqual(["w1"]);
    });

    const alone = door.cannot["an answer in another process"];
    it.runIf(alone === undefined)(
      title("several processes take one answer at once", "one runs it", alone),
      async () => {
        const asking = await open();
        const turn = await asking.start([note("w1")]);
        const doors = await Promise.all([open(), open(), open()]);
        await Promise.allSettled(doors.map((one) => one.resume(turn.saved, ["approve"])));
        expect(await readTitles()).toEqual(["w1"]);
      },
    );

    it("runs nothing for a yes to what was altered after it was asked", async () => {
      const asking = await open();
      const turn = await asking.start([note("w1", "shown")]);
      const altered = turn.saved.replaceAll("shown", "other");
      if (altered === turn.saved) return;
      await (await openLater(asking)).resume(altered, ["approve"]).catch(() => undefined);
      expect(await service.effects()).toEqual([]);
    });
  });
}
