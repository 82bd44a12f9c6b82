import { afterAll, beforeAll, expect, it } from "vitest";
import { checkSettle, checkUndo, checkUndoBetween } from "../kit/check-undo.ts";
import { openServerSubject, type ServerSubject } from "../kit/dovecot-undo.ts";

/** Taking back and looking for writes of a mailbox on a server, many times. */

const TIMES = 1000;
const LONG_MS = 30 * 60_000;
let subject: ServerSubject;

beforeAll(async () => {
  subject = await openServerSubject();
});
afterAll(async () => {
  await subject?.close();
});

it("takes a write back, or refuses and changes nothing", { timeout: LONG_MS }, async () => {
  const { undone, refused } = await checkUndo(subject, TIMES);
  expect(Math.min(undone, refused)).toBeGreaterThan(TIMES / 10);
});

it("takes nothing back that changes between the plan and the act", { timeout: LONG_MS }, async () => {
  await checkUndoBetween(subject, TIMES / 4);
});

it("finds out what became of a write whose answer was lost", { timeout: LONG_MS }, async () => {
  const { happened, did_not, cannot_know } = await checkSettle(subject, TIMES);
  expect(Math.min(happened, did_not, cannot_know)).toBeGreaterThan(TIMES / 20);
});
