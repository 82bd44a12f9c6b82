import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createCalendarIntegration } from "../../../src/apps/calendar/calendar-integration.ts";
import { createContactsIntegration } from "../../../src/apps/contacts/contacts-integration.ts";
import type { KeptWrite } from "../../../src/apps/port/undo.ts";
import { createRoll } from "../../fixtures/content-files.ts";
import { ics } from "../calendar/kit/write-ics.ts";
import { checkUndo } from "../collections/undo/check-undo.ts";
import { createKeeper, createPreviewer, refusal } from "../run-action.ts";
import { sorted, type Write } from "../untouched/check-write.ts";
import { INVITED, review } from "./kit/invited-event.ts";
import { CALENDAR_WRITES, CONTACT_WRITES, shareCollection } from "./kit/share-collection.ts";
import { startRadicale, type TestRadicale } from "./kit/start-radicale.ts";

/** `SVC_FILES=1000` takes a quarter of an hour. */
const RUNS = Number(process.env.SVC_FILES ?? 150);

let radicale: TestRadicale;
let settings: Record<string, unknown> = {};
let keeper: ReturnType<typeof createKeeper>;
const calendar = createCalendarIntegration();
const contacts = createContactsIntegration();

beforeAll(async () => {
  radicale = await startRadicale();
  const { url: server, user, password } = radicale;
  settings = { server, user, password, address: "ana@example.org", timeZone: "Europe/Berlin" };
  keeper = createKeeper(calendar, { settings });
});
beforeEach(() => radicale.disturb(() => undefined));
afterAll(async () => {
  await calendar.close?.();
  await contacts.close?.();
  await radicale?.close();
});

describe.each([
  { app: calendar, collection: "work", writes: CALENDAR_WRITES },
  { app: contacts, collection: "people", writes: CONTACT_WRITES },
])("random writes in $collection", ({ app, collection, writes }) => {
  // The server writes what it gets in its own way, and what it gave out before the same way again: its texts are compared.
  it("are taken back, found out about, or left as they are", { timeout: 3_600_000 }, async () => {
    const account = shareCollection(radicale, { settings, collection });
    const all = writes as [Write, ...Write[]];
    const tally = await checkUndo(all, { integration: app, account, hasTrash: false, runs: RUNS });
    expect(tally.undone).toBeGreaterThan(RUNS / 5);
    expect(tally.refused).toBeGreaterThan(RUNS / 10);
    expect(tally.idle).toBe(0);
  });
});

describe.each([
  { app: calendar, collection: "work", writes: CALENDAR_WRITES },
  { app: contacts, collection: "people", writes: CONTACT_WRITES },
])("writes in $collection whose answer is lost", ({ app, collection, writes }) => {
  it.each(["before the server has it", "once the server has done it"])("%s are found out about", async (when) => {
    const account = shareCollection(radicale, { settings, collection });
    const { run, settle, plan } = createKeeper(app, { settings });
    for (const write of writes) {
      const { things, call } = write.roll(createRoll(1));
      await account.fill(things);
      const before = await account.look();
      const isDone = when.startsWith("once");
      radicale.disturb(({ method }) =>
        method !== "PUT" && method !== "DELETE" ? undefined : isDone ? { lose: true } : { drop: true },
      );
      const lost: { id: string; kept: KeptWrite | undefined }[] = [];
      await call(async (action, args) => {
        const ran = await run(action, args);
        lost.push({ id: action, kept: ran.kept });
        expect("error" in ran && ran.error, write.title).toMatchObject({ code: "outcome_unknown" });
        return {};
      });
      radicale.disturb(() => undefined);
      const [{ id, kept } = { id: "", kept: undefined }] = lost;
      if (kept === undefined) throw new Error(`${write.title} kept nothing`);
      const found = await settle(id, kept);
      expect([write.title, found?.verdict]).toEqual([write.title, isDone ? "happened" : "did_not"]);
      if (found?.verdict === "happened") await (await plan(id, { ...kept, after: found.after })).act();
      expect(sorted(await account.look()), write.title).toEqual(sorted(before));
    }
  });
});

const put = (text: string) => radicale.ask("PUT", "/ana/personal/inv.ics", text, { "content-type": "text/calendar" });

it("does not take what somebody wrote before the look at a change for what the change left", async () => {
  await put(ics(INVITED));
  const theirs = ics([...INVITED, "LOCATION:Theirs"]);
  radicale.disturb(async ({ method }) => {
    if (method === "PUT")
      radicale.disturb(async (next) => {
        if (next.method === "GET") await put(theirs);
        return undefined;
      });
    return undefined;
  });
  const { kept } = await keeper.run("update_event", { ...review, location: "Mine" });
  radicale.disturb(() => undefined);
  if (kept === undefined) throw new Error("nothing was kept");
  expect(kept.after).toEqual({});
  expect((await refusal(keeper.plan("update_event", kept))).message).toBe(
    'This cannot be undone: "Review" was changed since.',
  );
  expect((await radicale.ask("GET", "/ana/personal/inv.ics")).text).toContain("LOCATION:Theirs");
});

it("says who is told again where the server tells people, and that what is said stays said", async () => {
  const schedule = { dav: "1, 2, calendar-access, calendar-auto-schedule" };
  radicale.disturb(({ method }) => (method === "OPTIONS" ? { status: 200, headers: schedule } : undefined));
  const stays = "What others were told before cannot be unsaid.";
  const tell = async (id: string, args: Record<string, unknown>) => {
    const { undo } = await createPreviewer(calendar, { settings })(id, { ...review, ...args });
    const { kept } = await keeper.run(id, { ...review, ...args });
    if (kept === undefined) throw new Error("nothing was kept");
    const { preview, act } = await keeper.plan(id, kept);
    await act();
    return { undo, told: preview.effects.filter(({ text }) => /tell|told|invites/.test(text)).map(({ text }) => text) };
  };
  const possible = { possible: true, why: "What others are told of it cannot be unsaid." };
  await put(ics(INVITED));
  expect(await tell("answer_invitation", { answer: "accepted" })).toEqual({
    undo: possible,
    told: ["The calendar server tells Gus that your answer is taken back.", stays],
  });
  await put(ics([...INVITED.slice(0, -1), "ATTENDEE;PARTSTAT=TENTATIVE:mailto:ana@example.org"]));
  expect((await tell("answer_invitation", { answer: "accepted" })).told).toEqual([
    "The calendar server tells Gus the answer that you had given before.",
    stays,
  ]);
  expect(await tell("delete_event", {})).toEqual({
    undo: possible,
    told: ["The calendar server tells Gus your answer again.", stays],
  });
  expect(await tell("update_event", { location: "Room 5" })).toEqual({
    undo: { possible: true },
    told: ["It is Gus who invites: only your calendar changes."],
  });
  await put(ics(INVITED.map((line) => line.replace("gus@", "ana@"))));
  expect(await tell("update_event", { location: "Room 5" })).toEqual({
    undo: possible,
    told: ["The calendar server tells Hana of it.", stays],
  });
  expect(await tell("delete_event", {})).toEqual({
    undo: possible,
    told: ["The calendar server tells Hana of it.", stays],
  });
});

it("says that the calendar is gone where it is", async () => {
  await put(ics(INVITED));
  const { kept } = await keeper.run("delete_event", review);
  if (kept === undefined) throw new Error("nothing was kept");
  await radicale.ask("DELETE", "/ana/personal/");
  expect((await refusal(keeper.plan("delete_event", kept))).message).toBe(
    'This cannot be undone: "My personal", where "Review" was, is gone.',
  );
});
