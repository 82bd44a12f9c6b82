import { expect } from "vitest";
import type { Integration } from "../../../src/apps/port/integration.ts";
import { STATE_CHANGED } from "../../../src/apps/port/preview.ts";
import { ServiceError } from "../../../src/service/service-error.ts";
import { createRoll, type Roll } from "../../fixtures/content-files.ts";
import { createPreviewer, createRunner, NOW } from "../run-action.ts";
import { type Account, type Holdings, pick, sorted, type Write } from "./check-write.ts";

/** An account that somebody else uses, too. */
export interface SharedAccount extends Account {
  /** Writes one thing, or takes it away. */
  put(path: string, text: string | undefined): Promise<void>;
  /**
   * Does something between the next look of the app at what it changes and its write. Without it, `put` has to be done when
   * it returns its promise.
   */
  meanwhile?(touch: () => Promise<void>): void;
}

/** How the runs of {@link checkSeenState} ended. */
interface SeenTally {
  ran: number;
  /** Refused because another state had been shown. */
  changed: number;
  /** Refused for another reason, such as that it is gone. */
  refused: number;
}

interface Checked {
  readonly integration: Integration;
  readonly account: SharedAccount;
}

/** What somebody else does: the first thing is the one that is written. */
const TOUCHES = ["nothing", "edits another thing", "edits it", "takes it away"] as const;

function touchThings(things: Holdings, touch: (typeof TOUCHES)[number]): Holdings {
  const [own, ...others] = [...things];
  if (own === undefined || touch === "nothing") return things;
  const edit = ([path, text]: readonly [string, string]) =>
    [path, text.replace(/^(UID:.*?)(\r\n|\r|\n)/m, "$1$2X-THEIRS:1$2")] as const;
  if (touch === "edits it") return new Map([edit(own), ...others]);
  return touch === "takes it away" ? new Map(others) : new Map([own, ...others.map(edit)]);
}

/**
 * Previews so many random writes and runs each for the state it showed, after somebody else did something, or while they do:
 * a call for a state that is no longer there does nothing, and every other one runs.
 */
export async function checkSeenState(
  writes: readonly Write[],
  { runs, ...o }: Checked & { readonly runs: number },
): Promise<SeenTally> {
  const tally = { ran: 0, changed: 0, refused: 0 };
  for (let seed = 1; seed <= runs; seed += 1) {
    const roll = createRoll(seed);
    const write = pick(roll, writes as readonly [Write, ...Write[]]);
    const touch = pick(roll, TOUCHES);
    const isMeanwhile = roll(2) === 0;
    try {
      tally[await checkOnce(write, { ...o, roll, touch, isMeanwhile })] += 1;
    } catch (error) {
      const what = `${write.title}, seed ${seed}, somebody ${touch}${isMeanwhile ? " meanwhile" : ""}`;
      throw new Error(`${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  }
  return tally;
}

async function checkOnce(
  write: Write,
  o: Checked & { readonly roll: Roll; readonly touch: (typeof TOUCHES)[number]; readonly isMeanwhile: boolean },
): Promise<keyof SeenTally> {
  const { integration, account, isMeanwhile } = o;
  const { settings } = account;
  const { things, call, check } = write.roll(o.roll);
  const theirs = touchThings(things, o.touch);
  await account.fill(things);
  const filled = await account.look();
  const shown = await call(createPreviewer(integration, { settings })).catch(readRefusal);
  expect(sorted(await account.look()), "after the preview").toEqual(sorted(filled));
  if (shown instanceof ServiceError) return "refused";
  let isTouched = false;
  const touch = async () => {
    if (isTouched) return;
    isTouched = true;
    for (const [path, text] of things) if (theirs.get(path) !== text) await account.put(path, theirs.get(path));
  };
  if (!isMeanwhile) await touch();
  else account.meanwhile?.(touch);
  // The time is asked for once the thing was read.
  const now = () => {
    if (account.meanwhile === undefined) void touch();
    return NOW;
  };
  const answer = await call(createRunner(integration, { settings, expectedState: shown.state, now })).catch(
    readRefusal,
  );
  const after = await account.look();
  const [own = ""] = things.keys();
  const isOther = isTouched && theirs.get(own) !== things.get(own);
  if (answer instanceof ServiceError) {
    expect(isOther, `${answer.code}: ${answer.message}`).toBe(true);
    await account.fill(theirs);
    expect(sorted(after), "after a refusal").toEqual(sorted(await account.look()));
    return answer.code === STATE_CHANGED ? "changed" : "refused";
  }
  if (!write.title.startsWith("create")) expect(isOther, "ran on a state that was not shown").toBe(false);
  if (o.touch === "nothing") check({ before: things, after, answer });
  return "ran";
}

function readRefusal(error: unknown): ServiceError {
  if (error instanceof ServiceError && error.status < 500) return error;
  throw error;
}
