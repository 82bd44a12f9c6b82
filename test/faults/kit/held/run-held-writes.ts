import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { runSvc } from "../../../e2e/run-svc.ts";
import { waitForTool } from "../../../service/added/wait-for-tool.ts";
import { pressOnPage } from "../../../service/approvals/owner.ts";
import { openBrowser } from "../../../service/http/pages/browser.ts";
import { call } from "../../../service/http-calls.ts";
import { createRandom } from "../create-random.ts";
import { choose } from "../fault-form.ts";
import { type AskedWrite, type AskerJob, PLUGIN, readNotes } from "./asker-notes.ts";
import { startProvider } from "./provider.ts";
import { WAYS } from "./ways.ts";

const ASKER = fileURLToPath(new URL("./asker-child.ts", import.meta.url));
/** How many browsers the owner has. */
const OWNERS = 4;
const ENDS = ["succeeded", "unknown"];

/** A service under test: one process, or several on one database. */
export interface Place {
  readonly url: string;
  readonly apiKey: string;
  readonly dataDir: string;
  readonly database?: string;
  readonly secretKey?: string;
  signInUrl(): Promise<string>;
  /** Kills a process, and starts one in its place. */
  kill(random: () => number): Promise<void>;
}

/** How much is done, and with which numbers. */
export interface HeldForm {
  readonly seed: number;
  /** Batches of calls that are asked for, and then decided about. */
  readonly batches: number;
  /** Calls of a batch that are approved; one for each twenty more is declined. */
  readonly writes: number;
  /** Kills of the service in a batch, while it is asked and again while it is decided. */
  readonly kills: number;
  readonly askerKills: number;
}

/** 100 writes, or 1,000. */
export const HELD_FORM = choose({
  short: { batches: 2, writes: 50, kills: 3, askerKills: 2 },
  long: { batches: 10, writes: 100, kills: 6, askerKills: 3 },
});

/** What took place. */
interface HeldTally {
  readonly writes: number;
  readonly killsOfService: number;
  readonly killsOfAsker: number;
  readonly effectsWithoutClick: number;
  /** Writes by how often the app has them. */
  readonly effects: Readonly<Record<number, number>>;
  readonly clicks: number;
  /** Writes that ended unknown and that the app has. */
  readonly unknownButDone: number;
  /** Writes that ended unknown, were not done, and were approved again under a new key. */
  readonly askedAgain: number;
  readonly declined: number;
}

/**
 * Has an asker that calls everything confirmed ask for writes in every way there is, and an owner decide about them in
 * the browser, while the processes of both are killed. Shows that nothing runs before its click, that a click runs its
 * write once, and that a write in flight at a kill ends as unknown and is not run again by itself.
 */
export async function runHeldWrites(place: Place, form: HeldForm): Promise<HeldTally> {
  const folder = await mkdtemp(join(tmpdir(), "svc-held-"));
  const random = createRandom(form.seed);
  const owner = createOwner(place);
  const early: string[] = [];
  const provider = await startProvider(random, (line) => {
    if (!owner.pressed.has(line)) early.push(line);
  });
  const kills = { service: 0, asker: 0 };
  const stops: (() => Promise<unknown> | undefined)[] = [];
  try {
    await addProvider(place, provider.document, folder);
    const ends = new Map<string, AskedWrite>();
    for (let batch = 0; batch < form.batches; batch += 1) {
      const job = planBatch(place, { folder, batch, count: form.writes });
      const asker = startAsker(job);
      stops.push(asker.stop);
      const killAll = async () => {
        const askerKills = spread(form.askerKills, form.kills);
        for (let round = 0; round < form.kills; round += 1) {
          await delay(random() * 400);
          const killing = place.kill(random);
          kills.service += 1;
          // The owner goes on for a moment, and then waits: later kills are to meet open calls, too.
          await delay(random() * 300);
          owner.pause(killing);
          await killing;
          if (!askerKills.has(round)) continue;
          await delay(random() * 200);
          if (await asker.restart()) kills.asker += 1;
        }
      };
      const notes = async () => readNotes(await readFile(job.notes, "utf8").catch(() => ""));
      const countAsked = async () => [...(await notes()).values()].filter(({ id, end }) => id ?? end).length;
      const untilAsked = async () => {
        while ((await countAsked()) < job.writes.length) await Promise.race([delay(50), asker.over]);
      };
      const still = failWhenStill(async () => [kills.service, ...(await notes())]);
      stops.push(async () => still.stop());
      await Promise.race([still.failed, Promise.all([killAll(), untilAsked()])]);
      expect(early, `written without a click, seed ${form.seed}`).toEqual([]);
      await Promise.race([still.failed, Promise.all([killAll(), owner.decideUntil(asker.over)])]);
      still.stop();
      for (const [line, known] of await notes()) ends.set(line, known);
    }
    const doubtful = [...ends.values()].filter(({ end, id }) => end === "unknown" && id !== undefined);
    for (const { id } of doubtful) expect(await owner.look(id ?? "")).toContain("Approved, outcome unknown");
    return count({ ends, early, kills, clicks: owner.clicks }, provider.counts);
  } finally {
    owner.stop();
    for (const stop of stops) await stop();
    await provider.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function addProvider(place: Place, document: object, folder: string): Promise<void> {
  const file = join(folder, "tally.json");
  await writeFile(file, JSON.stringify(document));
  const { dataDir, database, secretKey } = place;
  const where = ["--data", dataDir, ...(database === undefined ? [] : ["--database", database])];
  const env = secretKey === undefined ? {} : { SVC_SECRET: secretKey };
  const added = await runSvc(["add", "openapi", "tally", file, "--private", "--yes", ...where], folder, { env });
  expect(added.code, added.stderr).toBe(0);
  await waitForTool(place, "tally_write");
}

function planBatch(
  { url, apiKey }: Place,
  { folder, batch, count }: { folder: string; batch: number; count: number },
): AskerJob {
  const approved = Array.from({ length: count }, (_, index) => `write-${batch}-${index}`);
  const declined = Array.from(
    { length: Math.ceil(count / 20) },
    (_, index) => `write-${batch}-please-decline-${index}`,
  );
  const ways = [PLUGIN, ...WAYS.keys()];
  const writes = [...approved, ...declined].map((line, index) => ({ line, way: ways[index % ways.length] ?? 0 }));
  return { url, apiKey, notes: join(folder, `notes-${batch}`), stateDir: join(folder, "state"), writes };
}

/** Which of `all` rounds the kills of the asker follow. */
function spread(kills: number, all: number): Set<number> {
  return new Set(Array.from({ length: kills }, (_, index) => Math.floor(((index + 0.5) * all) / kills)));
}

/** The asker's process, which another one continues when it is killed. */
function startAsker(job: AskerJob) {
  const { promise: over, resolve, reject } = Promise.withResolvers<void>();
  over.catch(() => {});
  let isOver = false;
  const start = () => {
    const child = spawn(process.execPath, [ASKER, JSON.stringify(job)], { stdio: ["ignore", "inherit", "inherit"] });
    child.once("exit", (code, signal) => {
      if (signal === "SIGKILL") return;
      isOver = true;
      if (code === 0) resolve();
      else reject(new Error(`The asker ended with ${code}.`));
    });
    return child;
  };
  let child: ChildProcess = start();
  return {
    over,
    stop(): Promise<unknown> | undefined {
      if (isOver) return undefined;
      isOver = true;
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      return gone;
    },
    /** False when it is over already. */
    async restart(): Promise<boolean> {
      if (isOver) return false;
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
      if (!isOver) child = start();
      return true;
    },
  };
}

/** Fails when nothing has changed in 40 seconds. */
function failWhenStill(look: () => Promise<unknown[]>) {
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => {});
  let last = "";
  const timer = setInterval(async () => {
    const now = JSON.stringify(await look());
    if (now === last) reject(new Error(`Nothing goes on: ${now.slice(0, 10_000)}`));
    last = now;
  }, 40_000);
  return { failed, stop: () => clearInterval(timer) };
}

/** The owner at their browsers: opens each call that waits and presses a button, once. */
function createOwner(place: Place) {
  const pressed = new Set<string>();
  const clicks = new Map<string, number>();
  const taken = new Set<string>();
  const browser = openBrowser();
  let isStopped = false;
  let paused = Promise.resolve();

  async function listWaiting(): Promise<string[]> {
    const { json } = await call(`${place.url}/api/approvals?status=pending`, { key: place.apiKey });
    return json.approvals.map(({ id }: { id: string }) => id);
  }

  async function decide(id: string): Promise<void> {
    const answer = await pressOnPage(browser, `${place.url}/inbox/${id}`, (page) => {
      const line = /write-[\w-]+/.exec(page)?.[0] ?? expect.unreachable(page);
      if (line.includes("please-decline")) return "decline";
      pressed.add(line);
      return "approve";
    });
    if (String(answer?.headers.location).includes("notice=approved")) clicks.set(id, (clicks.get(id) ?? 0) + 1);
  }

  async function work(): Promise<void> {
    while (!isStopped) {
      await paused;
      const waiting = await listWaiting().catch(() => []);
      const id = waiting.find((one) => !taken.has(one));
      if (id === undefined) {
        await delay(20);
        continue;
      }
      taken.add(id);
      // A click whose answer was lost is made again if the call still waits.
      await decide(id).catch(() => {});
      taken.delete(id);
    }
  }

  return {
    pressed,
    clicks,
    /** Decides nothing more until `end`. */
    pause(end: Promise<void>): void {
      paused = end;
    },
    async decideUntil(over: Promise<void>): Promise<void> {
      isStopped = false;
      while (browser.sessionPath() === "")
        await place
          .signInUrl()
          .then(browser.open)
          .catch(() => delay(50));
      const working = Promise.all(Array.from({ length: OWNERS }, work));
      try {
        await over;
      } finally {
        isStopped = true;
        await working;
      }
    },
    /** The page of a call. */
    look: async (id: string): Promise<string> => (await browser.open(`${place.url}/inbox/${id}`)).text,
    stop() {
      isStopped = true;
    },
  };
}

function count(
  seen: {
    ends: Map<string, AskedWrite>;
    early: string[];
    kills: { service: number; asker: number };
    clicks: Map<string, number>;
  },
  counts: ReadonlyMap<string, number>,
): HeldTally {
  const wanted = [...seen.ends].filter(([line]) => !line.includes("please-decline"));
  const others = [...seen.ends].filter(([line]) => line.includes("please-decline"));
  const odd = wanted.filter(([, { end = "" }]) => !ENDS.includes(end));
  expect(odd, "every approved write succeeded, or its outcome is unknown").toEqual([]);
  expect(others.filter(([line, { end }]) => end !== "declined" || counts.has(line))).toEqual([]);
  expect([...seen.clicks].filter(([, times]) => times > 1)).toEqual([]);
  const effects: Record<number, number> = {};
  for (const [line] of wanted) effects[counts.get(line) ?? 0] = (effects[counts.get(line) ?? 0] ?? 0) + 1;
  return {
    writes: wanted.length,
    killsOfService: seen.kills.service,
    killsOfAsker: seen.kills.asker,
    effectsWithoutClick: seen.early.length,
    effects,
    clicks: seen.clicks.size,
    unknownButDone: wanted.filter(([, { end }]) => end === "unknown").length,
    askedAgain: wanted.reduce((sum, [, { tries }]) => sum + tries - 1, 0),
    declined: others.length,
  };
}
