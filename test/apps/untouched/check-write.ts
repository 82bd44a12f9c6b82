import { expect } from "vitest";
import type { Integration } from "../../../src/apps/port/integration.ts";
import { ServiceError } from "../../../src/service/service-error.ts";
import { createRoll, type Roll } from "../../fixtures/content-files.ts";
import { createRunner } from "../run-action.ts";

/** What an account holds, by addresses: bytes of files as Latin-1, or another text that tells a thing from a changed one. */
export type Holdings = ReadonlyMap<string, string>;

/** An account that is filled and looked into without the app. */
export interface Account {
  readonly settings: Record<string, unknown>;
  /** From then on it holds these things, and nothing else. */
  fill(things: Holdings): Promise<void>;
  look(): Promise<Holdings>;
}

type Runner = ReturnType<typeof createRunner>;
// biome-ignore lint/suspicious/noExplicitAny: answers are JSON whose shape each write states
type Answer = any;

/** What an account holds before and after a call, and the answer. */
export interface Outcome {
  readonly before: Holdings;
  readonly after: Holdings;
  readonly answer: Answer;
}

/** One way to write, on random things. */
export interface Write {
  readonly title: string;
  roll(roll: Roll): {
    readonly things: Holdings;
    call(run: Runner): Promise<Answer>;
    /** Expects that nothing is changed but what the call names, and that this is. */
    check(outcome: Outcome): void;
  };
}

/** One of them. */
export function pick<T>(roll: Roll, all: readonly [T, ...T[]]): T {
  return all[roll(all.length)] ?? all[0];
}

/** Up to four of them, each once. */
export function rollSome<T>(roll: Roll, all: readonly [T, ...T[]]): T[] {
  return [...new Set(Array.from({ length: roll(5) }, () => pick(roll, all)))];
}

/** Does `write` on so many random accounts: a call changes what it names and nothing else, or is refused and changes nothing. */
export async function checkWrite(
  write: Write,
  {
    integration,
    account,
    files,
  }: { readonly integration: Integration; readonly account: Account; readonly files: number },
): Promise<void> {
  const run = createRunner(integration, { settings: account.settings });
  let refused = 0;
  for (let seed = 1; seed <= files; seed += 1) {
    const { things, call, check } = write.roll(createRoll(seed));
    await account.fill(things);
    try {
      const before = await account.look();
      expect(sorted(before), "the account as it was filled").toEqual(sorted(things));
      const answer = await call(run).catch((error: unknown) => {
        if (!(error instanceof ServiceError) || error.status >= 500) throw error;
        refused += 1;
      });
      const after = await account.look();
      if (answer === undefined) expect(sorted(after)).toEqual(sorted(before));
      else check({ before, after, answer });
    } catch (error) {
      throw new Error(`${write.title}, seed ${seed}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
  }
  expect(refused, `refused calls of ${write.title}`).toBeLessThan(files);
}

/** Holdings in an order that does not depend on the account. */
export function sorted(things: Holdings): (readonly [string, string])[] {
  return [...things].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The things at addresses that `isNamed` does not say are named. */
export function leaveOut(things: Holdings, isNamed: (address: string) => boolean): (readonly [string, string])[] {
  return sorted(new Map([...things].filter(([address]) => !isNamed(address))));
}
