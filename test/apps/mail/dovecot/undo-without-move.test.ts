import { afterAll, beforeAll, expect, it } from "vitest";
import { checkSettle, checkUndo } from "../kit/check-undo.ts";
import { openServerSubject, type ServerSubject } from "../kit/dovecot-undo.ts";

/** Taking back and looking for writes on a server that moves messages by copying and deleting them, and counts no changes. */

let subject: ServerSubject;

beforeAll(async () => {
  subject = await openServerSubject({ capabilities: "IMAP4rev1 SASL-IR LITERAL+ UIDPLUS SPECIAL-USE NAMESPACE" });
});
afterAll(async () => {
  await subject?.close();
});

it("takes a write back, or refuses and changes nothing", async () => {
  const sent = subject.line.sent.length;
  await checkUndo(subject, 30);
  const commands = subject.line.sent.slice(sent).join("");
  expect(commands).toContain("UID COPY");
  expect(commands).not.toContain("UID MOVE");
});

it("finds out what became of a write whose answer was lost", async () => {
  const { happened, did_not } = await checkSettle(subject, 30);
  expect(Math.min(happened, did_not)).toBeGreaterThan(3);
});

it("says of a message that was copied and not deleted that nobody knows", async () => {
  const { other, run, keeper, line } = subject;
  await other.empty();
  await other.arrive("one", "");
  const { messages } = await run("search", { query: "is:any" });
  line.rule = (text) => (/UID STORE/.test(text) ? "cut" : undefined);
  const meant = { message_ids: [messages[0].message_id], subjects: ["one"], folder: "Junk" };
  const { kept, ...ran } = await keeper.run("move_message", meant);
  line.rule = () => undefined;
  expect(ran).toMatchObject({ error: { code: "outcome_unknown" } });
  expect(await other.list()).toEqual(["INBOX one ", "Junk one "]);
  if (kept === undefined) throw new Error("Nothing was kept.");
  expect(await keeper.settle("move_message", kept)).toMatchObject({ verdict: "cannot_know" });
});
