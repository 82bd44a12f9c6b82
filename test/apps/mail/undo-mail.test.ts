import { expect, it } from "vitest";
import { useTempFolder } from "../../service/files/temp-folder.ts";
import { refusal } from "../run-action.ts";
import { makeMaildirSubject } from "./kit/check-maildir-undo.ts";
import { checkSettle, checkUndo, checkUndoBetween } from "./kit/check-undo.ts";

/** Taking back and looking for writes of a mailbox that is a folder. */

const temp = useTempFolder();

it("takes a write back, or refuses and changes nothing", async () => {
  const { undone, refused } = await checkUndo(await makeMaildirSubject(temp()), 50);
  expect(Math.min(undone, refused)).toBeGreaterThan(10);
});

it("takes nothing back that changes between the plan and the act", async () => {
  await checkUndoBetween(await makeMaildirSubject(temp()), 50);
});

it("finds out what became of a write whose answer was lost", async () => {
  const { happened, did_not, cannot_know } = await checkSettle(await makeMaildirSubject(temp()), 50);
  expect(Math.min(happened, did_not, cannot_know)).toBeGreaterThan(3);
});

/** Messages in INBOX, and a call about them. */
async function arrive(subject: Awaited<ReturnType<typeof makeMaildirSubject>>, ...subjects: string[]) {
  for (const one of subjects) await subject.other.arrive(one, "S");
  const { messages } = await subject.run("search", { query: "is:any", limit: 50 });
  const find = (wanted: string) => messages.find((one: { subject: string }) => one.subject === wanted).message_id;
  return { message_ids: subjects.map(find), subjects };
}

async function plan(
  { keeper }: Awaited<ReturnType<typeof makeMaildirSubject>>,
  id: string,
  args: Record<string, unknown>,
) {
  const { kept } = await keeper.run(id, args);
  if (kept === undefined) throw new Error("Nothing was kept.");
  return { kept, ...(await keeper.plan(id, kept)) };
}

it("shows what taking back would do", async () => {
  const subject = await makeMaildirSubject(temp());
  const meant = await arrive(subject, "one", "two");
  const { message_ids } = meant;
  await subject.other.toggle("two", "F");
  const marked = await plan(subject, "mark_message", { message_ids, as: "flagged" });
  expect(marked.preview).toMatchObject({
    summary: 'Mark "one" from "Anna" as not flagged again',
    objectCount: 1,
    changes: [{ field: "State of 1 message", before: "flagged", after: "not flagged" }],
    undo: { possible: false },
  });
  await marked.act();
  await subject.other.move("two", "Sent");
  const moved = await plan(subject, "move_message", { ...meant, folder: "Fresh", create_folder: true });
  expect(moved.preview).toMatchObject({
    summary: 'Move 2 messages in "Fresh" back to the 2 folders they came from',
    changes: [
      { field: "Folder of 1 message", before: "Fresh", after: "INBOX" },
      { field: "Folder of 1 message", before: "Fresh", after: "Sent" },
    ],
    effects: [{ code: "moves_many" }, { code: "keeps_folder", text: expect.stringContaining('"Fresh"') }],
  });
  expect(moved.raised).toBeUndefined();
  await moved.act();
  const deleted = await plan(subject, "delete_message", { message_ids: [message_ids[0]], subjects: ["one"] });
  expect(deleted.preview).toMatchObject({ summary: 'Bring "one" from "Anna" back to "INBOX"', effects: [] });
  const restored = await plan(subject, "move_message", {
    ...meant,
    message_ids: [message_ids[0]],
    subjects: ["one"],
    folder: "INBOX",
  });
  expect(restored.raised).toMatchObject({ level: "delete" });
  expect(restored.preview.effects).toMatchObject([{ code: "hides" }]);
  const drafted = await plan(subject, "save_draft", { to: [], subject: "March", body: "B" });
  expect(drafted.preview).toMatchObject({
    summary: 'Delete the draft "March"; it goes to "Trash"',
    effects: [{ code: "moves_to_trash" }],
  });
  expect(drafted.raised).toMatchObject({ level: "delete" });
});

it("keeps nothing where nothing changes", async () => {
  const subject = await makeMaildirSubject(temp());
  const meant = await arrive(subject, "one");
  expect(
    (await subject.keeper.run("mark_message", { message_ids: meant.message_ids, as: "read" })).kept,
  ).toBeUndefined();
  expect((await subject.keeper.run("move_message", { ...meant, folder: "INBOX" })).kept).toBeUndefined();
});

it("names the message that is not as it was left", async () => {
  const subject = await makeMaildirSubject(temp());
  const { keeper, other } = subject;
  const meant = await arrive(subject, "one", "two");
  const { kept } = await keeper.run("move_message", { ...meant, folder: "Junk" });
  if (kept === undefined) throw new Error("Nothing was kept.");
  const why = async () => (await refusal(keeper.plan("move_message", kept))).message;
  await other.toggle("two", "F");
  expect(await why()).toBe('This cannot be undone: "two" was changed since.');
  await other.toggle("two", "F");
  await other.move("one", "INBOX2");
  expect(await why()).toBe('This cannot be undone: "one" is not in "Junk" any more.');
  await other.move("one", "Junk");
  await keeper.plan("move_message", kept);
  // Half of it, as after a kill in the middle.
  const lost = { ...kept, after: undefined };
  expect(await keeper.settle("move_message", lost)).toMatchObject({ verdict: "happened" });
  await other.move("one", "Sent");
  expect(await keeper.settle("move_message", lost)).toEqual({
    verdict: "cannot_know",
    why: 'Of 2 messages, 1 is in "Junk", 1 was changed, moved or removed since.',
  });
});

it("does not say that a move did not happen once it has made its folder", async () => {
  const subject = await makeMaildirSubject(temp());
  const meant = await arrive(subject, "one");
  const { kept } = await subject.keeper.run(
    "move_message",
    { ...meant, folder: "Fresh", create_folder: true },
    { onKept: () => Promise.reject(new Error("lost")) },
  );
  if (kept === undefined) throw new Error("Nothing was kept.");
  expect(await subject.keeper.settle("move_message", kept)).toEqual({ verdict: "did_not" });
  await subject.other.make("Fresh");
  expect(await subject.keeper.settle("move_message", kept)).toMatchObject({ verdict: "cannot_know" });
});

it("finds out whether a message was filed and delivered", async () => {
  const subject = await makeMaildirSubject(temp());
  const { keeper, other } = subject;
  const args = { to: ["me@example.org", "anna@example.com"], subject: "Hello", body: "B" };
  const lost = await keeper.run("send_message", args, { onKept: () => Promise.reject(new Error("lost")) });
  if (lost.kept === undefined) throw new Error("Nothing was kept.");
  expect(await keeper.settle("send_message", lost.kept)).toEqual({ verdict: "did_not" });
  const sent = await keeper.run("send_message", args);
  if (sent.kept === undefined || !("output" in sent)) throw new Error("It was not sent.");
  const { delivered_to: _to, not_delivered_to: _others, note: _note, ...known } = sent.output;
  expect(await keeper.settle("send_message", sent.kept)).toMatchObject({ verdict: "happened", output: known });
  // One of its two copies is gone, as where the other one never came to be.
  await other.erase("Hello");
  expect(await keeper.settle("send_message", sent.kept)).toMatchObject({
    verdict: "cannot_know",
    why: expect.stringMatching(/^There is one copy of it in "(Sent|INBOX)"/),
  });
  await other.erase("Hello");
  expect(await keeper.settle("send_message", sent.kept)).toMatchObject({ verdict: "cannot_know" });
  expect(await keeper.settle("send_message", lost.kept)).toMatchObject({ verdict: "cannot_know" });
});
