import { expect, it } from "vitest";
import { useTempFolder } from "../../service/files/temp-folder.ts";
import { makeMaildirSubject } from "./kit/check-maildir-undo.ts";
import { checkSettle, checkUndo, checkUndoBetween } from "./kit/check-undo.ts";

/** Taking back and looking for writes of a mailbox that is a folder, many times. */

const temp = useTempFolder();
const TIMES = 1000;

it("takes a write back, or refuses and changes nothing", async () => {
  const { undone, refused } = await checkUndo(await makeMaildirSubject(temp()), TIMES);
  expect(Math.min(undone, refused)).toBeGreaterThan(TIMES / 10);
});

it("takes nothing back that changes between the plan and the act", async () => {
  await checkUndoBetween(await makeMaildirSubject(temp()), TIMES);
});

it("finds out what became of a write whose answer was lost", async () => {
  const { happened, did_not, cannot_know } = await checkSettle(await makeMaildirSubject(temp()), TIMES);
  expect(Math.min(happened, did_not, cannot_know)).toBeGreaterThan(TIMES / 20);
});
