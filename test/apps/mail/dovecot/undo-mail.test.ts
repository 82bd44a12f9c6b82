import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { KeptWrite } from "../../../../src/apps/port/undo.ts";
import { ServiceError } from "../../../../src/service/service-error.ts";
import { refusal } from "../../run-action.ts";
import { checkSettle, checkUndo, checkUndoBetween } from "../kit/check-undo.ts";
import { openServerSubject, type ServerSubject } from "../kit/dovecot-undo.ts";
import { ADDRESSES } from "../kit/start-smtp.ts";
import { writeMessage } from "../kit/write-message.ts";

/** Taking back and looking for writes of a mailbox on a server. */

let subject: ServerSubject;

beforeAll(async () => {
  subject = await openServerSubject();
});
afterAll(async () => {
  await subject?.close();
});
afterEach(async () => {
  subject.line.rule = () => undefined;
  subject.smtp.faults = {};
  await subject.other.empty();
});

/** Cuts the line before a command of this kind, or another one of them, is sent on. */
function cutAt(command: RegExp, which = 1): void {
  let seen = 0;
  subject.line.rule = (text) => (command.test(text) && ++seen === which ? "cut" : undefined);
}

/** A call about messages of these subjects, each in its folder. */
async function mean(messages: Readonly<Record<string, string>>) {
  const found: { message_id: string; subject: string }[] = [];
  for (const folder of new Set(Object.values(messages)))
    found.push(...(await subject.run("search", { query: "is:any", folder, limit: 50 })).messages);
  const subjects = Object.keys(messages);
  return { message_ids: subjects.map((name) => found.find((one) => one.subject === name)?.message_id), subjects };
}

async function keep(id: string, args: Record<string, unknown>, keeper = subject.keeper) {
  const ran = await keeper.run(id, args);
  const error = "error" in ran && ran.error instanceof ServiceError ? ran.error : undefined;
  if (ran.kept === undefined) throw error ?? new Error("Nothing was kept.");
  return { kept: ran.kept, error, output: "output" in ran ? ran.output : undefined };
}

const lose = ({ intent }: KeptWrite): KeptWrite => ({ intent, after: undefined });

it("takes a write back, or refuses and changes nothing", async () => {
  const { undone, refused } = await checkUndo(subject, 50);
  expect(Math.min(undone, refused)).toBeGreaterThan(10);
});

it("takes nothing back that changes between the plan and the act", async () => {
  await checkUndoBetween(subject, 50);
});

it("finds out what became of a write whose answer was lost", async () => {
  const { happened, did_not, cannot_know } = await checkSettle(subject, 50);
  expect(Math.min(happened, did_not, cannot_know)).toBeGreaterThan(3);
});

describe("a line that is cut", () => {
  it("before anything was kept, is no doubt", async () => {
    const { other, keeper } = subject;
    await other.arrive("one", "");
    const meant = await mean({ one: "INBOX" });
    cutAt(/UID FETCH \S+ \(.*FLAGS[^[]*\)\r/);
    const ran = await keeper.run("delete_message", meant);
    expect(ran).toMatchObject({ kept: undefined, error: { code: "provider_unavailable" } });
  });

  it("at the move itself, leaves a doubt", async () => {
    const { other, keeper } = subject;
    await other.arrive("one", "");
    cutAt(/UID MOVE/);
    const { kept, error } = await keep("move_message", { ...(await mean({ one: "INBOX" })), folder: "Junk" });
    expect(error?.code).toBe("outcome_unknown");
    expect(await keeper.settle("move_message", kept)).toEqual({ verdict: "did_not" });
  });

  it("in the middle of several folders, leaves a doubt that says what is done", async () => {
    const { other, keeper } = subject;
    for (const name of ["one", "two", "three"]) await other.arrive(name, "");
    await other.move("two", "Drafts");
    await other.move("three", "Drafts");
    const before = await other.snapshot();
    const meant = await mean({ one: "INBOX", two: "Drafts", three: "Drafts" });
    cutAt(/UID MOVE/, 2);
    const { kept, error } = await keep("move_message", { ...meant, folder: "Junk" });
    expect(error?.code).toBe("outcome_unknown");
    expect(await keeper.settle("move_message", kept)).toEqual({
      verdict: "cannot_know",
      why: 'Of 3 messages, 1 is in "Junk", 2 are as before.',
    });
    expect((await refusal(keeper.plan("move_message", kept))).message).toContain('"two" is in "Drafts" again.');
    await other.move("one", "INBOX");
    expect(await other.snapshot()).toEqual(before);
  });

  it("in the middle of taking back, says what is done", async () => {
    const { other, keeper } = subject;
    for (const name of ["one", "two"]) await other.arrive(name, "");
    await other.move("two", "Drafts");
    const { kept } = await keep("move_message", { ...(await mean({ one: "INBOX", two: "Drafts" })), folder: "Junk" });
    const { act } = await keeper.plan("move_message", kept);
    cutAt(/UID MOVE/, 2);
    const refused = await refusal(act());
    expect([refused.code, refused.message]).toEqual([
      "outcome_unknown",
      expect.stringContaining("1 of 2 messages changed"),
    ]);
    expect((await other.list()).sort()).toEqual(["INBOX one ", "Junk two "]);
    const again = await refusal(keeper.plan("move_message", kept));
    expect(again.message).toContain('"one" is not in "Junk" any more.');
  });

  it("after a mark was set, is found to have taken effect", async () => {
    const { other, keeper } = subject;
    await other.arrive("one", "");
    const { message_ids } = await mean({ one: "INBOX" });
    let isStored = false;
    subject.line.rule = (text) => {
      const wasStored = isStored;
      isStored ||= /UID STORE/.test(text);
      return wasStored ? "cut" : undefined;
    };
    const { kept, error } = await keep("mark_message", { message_ids, as: "read" });
    expect(error?.code).toBe("outcome_unknown");
    subject.line.rule = () => undefined;
    expect(await keeper.settle("mark_message", kept)).toMatchObject({ verdict: "happened" });
  });

  it("before the messages are moved into a folder that was made for them, leaves a doubt", async () => {
    const { other, keeper } = subject;
    await other.arrive("one", "");
    cutAt(/UID MOVE/);
    const meant = await mean({ one: "INBOX" });
    const { kept } = await keep("move_message", { ...meant, folder: "Fresh", create_folder: true });
    expect(await keeper.settle("move_message", kept)).toMatchObject({ verdict: "cannot_know" });
    await subject.dovecot.asClient("ana", (client) => client.mailboxDelete("Fresh"));
    expect(await keeper.settle("move_message", kept)).toEqual({ verdict: "did_not" });
  });
});

describe("messages whose ids are others by now", () => {
  it("are found by their Message-ID where the folder counts anew", async () => {
    const { other, keeper, dovecot } = subject;
    await other.arrive("one", "S");
    const before = await other.snapshot();
    const { kept } = await keep("move_message", {
      ...(await mean({ one: "INBOX" })),
      folder: "Fresh",
      create_folder: true,
    });
    await dovecot.asClient("ana", async (client) => {
      await client.mailboxCreate("Anew");
      await client.append("Anew", writeMessage({ subject: "first" }), ["\\Seen"]);
      const lock = await client.getMailboxLock("Fresh");
      await client.messageCopy("1:*", "Anew");
      lock.release();
      await client.mailboxClose();
      await client.mailboxDelete("Fresh");
      await client.mailboxRename("Anew", "Fresh");
    });
    expect(await keeper.settle("move_message", kept)).toMatchObject({ verdict: "happened" });
    await (await keeper.plan("move_message", kept)).act();
    await other.erase("first");
    expect(await other.snapshot()).toEqual(before);
  });

  it("are not taken for others that were there before, nor for each other", async () => {
    const { other, keeper, dovecot } = subject;
    const bytes = writeMessage({ subject: "same", headers: { "Message-ID": "<same@x.example>" } });
    for (const folder of ["INBOX", "INBOX", "Junk"]) await dovecot.deliver("ana", bytes, { folder });
    const { messages } = await subject.run("search", { query: "is:any" });
    const message_ids = messages.map((one: { message_id: string }) => one.message_id);
    const { kept } = await keep("move_message", { message_ids, subjects: ["same", "same"], folder: "Junk" });
    expect(await keeper.settle("move_message", lose(kept))).toMatchObject({ verdict: "happened" });
    await (await keeper.plan("move_message", lose(kept))).act();
    expect((await other.list()).sort()).toEqual(["INBOX same ", "INBOX same ", "Junk same "]);
    expect(await keeper.settle("move_message", lose(kept))).toMatchObject({ verdict: "cannot_know" });
  });
});

it("does not take a draft back that a mail program changed, though its Message-ID stayed", async () => {
  const { keeper, other, dovecot } = subject;
  const { kept } = await keep("save_draft", { to: [], subject: "March", body: "B" });
  const [draft] = await dovecot.list("ana", "Drafts");
  await other.erase("March");
  await dovecot.deliver("ana", `${draft?.source}More.\r\n`, { folder: "Drafts", flags: ["\\Draft", "\\Seen"] });
  expect((await refusal(keeper.plan("save_draft", kept))).message).toContain('"March" was changed since.');
  expect(await keeper.settle("save_draft", kept)).toMatchObject({ verdict: "happened" });
});

describe("a message to send", () => {
  const message = { to: [ADDRESSES.bob], subject: "Hello", body: "B" };

  it("is found in the folder of sent mail", async () => {
    const { kept, output } = await keep("send_message", message);
    const { delivered_to: _to, not_delivered_to: _others, ...known } = output ?? {};
    expect(await subject.restart().settle("send_message", kept)).toMatchObject({ verdict: "happened", output: known });
  });

  it("that the server may have taken stays in doubt", async () => {
    subject.smtp.faults = { cut: "after" };
    const { kept, error } = await keep("send_message", message);
    expect(error?.code).toBe("outcome_unknown");
    const doubt = { verdict: "cannot_know", why: expect.stringContaining('no copy in "Sent"') };
    expect(await subject.keeper.settle("send_message", kept)).toEqual(doubt);
    // It went to this mailbox, too, and is found there.
    const own = await keep("send_message", { ...message, to: [ADDRESSES.ana] });
    expect(own.error?.code).toBe("outcome_unknown");
    expect(await subject.keeper.settle("send_message", own.kept)).toMatchObject({
      verdict: "happened",
      output: { message_id: null, folder: "Sent" },
    });
  });

  it("whose end was never handed over did not go, as long as the process knows", async () => {
    subject.smtp.faults = { cut: "inside" };
    const body = "A long line of text.\n".repeat(20_000);
    const { kept } = await keep("send_message", { ...message, body });
    expect(await subject.keeper.settle("send_message", kept)).toEqual({ verdict: "did_not" });
    expect(await subject.restart().settle("send_message", kept)).toMatchObject({ verdict: "cannot_know" });
  });

  it("that hangs when its time is over stays in doubt", async () => {
    subject.smtp.faults = { hang: true };
    const aborter = new AbortController();
    const taken = subject.smtp.taken.length;
    const sending = subject.restart(aborter.signal).run("send_message", message);
    await expect.poll(() => subject.smtp.taken.length).toBe(taken + 1);
    aborter.abort(new Error("too slow"));
    const { kept } = await sending;
    if (kept === undefined) throw new Error("Nothing was kept.");
    expect(await subject.keeper.settle("send_message", kept)).toMatchObject({ verdict: "cannot_know" });
  });
});
