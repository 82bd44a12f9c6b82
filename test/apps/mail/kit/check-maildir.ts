import { rename, stat } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect } from "vitest";
import { createMailIntegration } from "../../../../src/apps/mail/mail-integration.ts";
import type { ServiceError } from "../../../../src/service/service-error.ts";
import { createPreviewer, createRunner } from "../../run-action.ts";
import { createMaildirHand, toggleMark } from "./maildir-hand.ts";
import { checkSeenCall, type Subject, seenCalls, writeCall } from "./somebody-else.ts";

const integration = createMailIntegration();

function createSubject(maildir: string) {
  const settings = { maildir, address: "me@example.org", sendPerMinute: 1000, sendPerDay: 100_000 };
  return {
    other: createMaildirHand(maildir),
    run: createRunner(integration, { settings }),
    preview: createPreviewer(integration, { settings }),
    runSeen: (expectedState: string) => createRunner(integration, { settings, expectedState }),
  } satisfies Subject;
}

/** Changes between showing and running. `maildir` is an empty folder. */
export async function checkBetween(maildir: string, numRuns: number): Promise<void> {
  const subject = createSubject(maildir);
  await fc.assert(
    fc.asyncProperty(seenCalls, (call) => checkSeenCall(subject, call)),
    { numRuns },
  );
}

const races = fc.record({
  action: fc.constantFrom("mark", "move", "delete"),
  mark: fc.constantFrom("F", "R"),
  marks: fc.constantFrom("", "S", "ST"),
  messages: fc.integer({ min: 1, max: 8 }),
  turns: fc.nat(250),
});
type Race = typeof races extends fc.Arbitrary<infer One> ? One : never;

/**
 * A change of the last message at any moment of the run: either it or the run finds the message as it was, and the other one
 * leaves it alone. Counts how the runs ended.
 */
export async function checkWhile(
  maildir: string,
  numRuns: number,
): Promise<Record<"ran" | "refused" | "half", number>> {
  const subject = createSubject(maildir);
  const outcomes = { ran: 0, refused: 0, half: 0 };
  const property = fc.asyncProperty(races, async (race) => {
    outcomes[await runRace(maildir, subject, race)] += 1;
  });
  await fc.assert(property, { numRuns });
  return outcomes;
}

async function runRace(maildir: string, subject: ReturnType<typeof createSubject>, race: Race) {
  const { action, mark, marks, messages, turns } = race;
  const subjects = Array.from({ length: messages }, (_, index) => `subject ${index}`);
  await subject.other.empty();
  for (const one of subjects) await subject.other.arrive(one, marks);
  const last = subjects.at(-1) ?? "";
  const [id, args] = await writeCall(subject, { action, as: marks === "" ? "read" : "unread", subjects });
  const { state } = await subject.preview(id, args);
  const [from, before] = [await subject.other.find(last), await subject.other.list()];
  const running = subject
    .runSeen(state)(id, args)
    .then(
      () => undefined,
      (error: ServiceError) => error,
    );
  for (let turn = 0; turn < turns; turn++) await stat(maildir);
  const isFirst = await rename(join(maildir, from), join(maildir, toggleMark(from, mark))).then(
    () => true,
    () => false,
  );
  const refused = await running;
  expect(refused === undefined).toBe(!isFirst);
  const lies = await subject.other.find(last);
  expect(lies).toEqual(isFirst ? toggleMark(from, mark) : expect.not.stringContaining(mark));
  if (refused === undefined) return "ran";
  if (refused.code === "outcome_unknown") return "half";
  expect(refused.status).toBe(412);
  const others = (list: readonly string[]) => list.filter((one) => !one.includes(last));
  expect(others(await subject.other.list())).toEqual(others(before));
  return "refused";
}
