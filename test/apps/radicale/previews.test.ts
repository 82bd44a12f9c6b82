import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createCalendarIntegration } from "../../../src/apps/calendar/calendar-integration.ts";
import { createContactsIntegration } from "../../../src/apps/contacts/contacts-integration.ts";
import type { Integration } from "../../../src/apps/port/integration.ts";
import { ics } from "../calendar/kit/write-ics.ts";
import { createPreviewer, createRunner, refusal } from "../run-action.ts";
import { checkSeenState } from "../untouched/check-seen-state.ts";
import { INVITED, review } from "./kit/invited-event.ts";
import { CALENDAR_WRITES, CONTACT_WRITES, shareCollection, vcard } from "./kit/share-collection.ts";
import { startRadicale, type TestRadicale } from "./kit/start-radicale.ts";

/** `SVC_FILES=1000` takes minutes. */
const RUNS = Number(process.env.SVC_FILES ?? 150);

let radicale: TestRadicale;
let settings: Record<string, unknown> = {};
const calendar = createCalendarIntegration();
const contacts = createContactsIntegration();

beforeAll(async () => {
  radicale = await startRadicale();
  const { url: server, user, password } = radicale;
  settings = { server, user, password, address: "ana@example.org", timeZone: "Europe/Berlin" };
});
beforeEach(() => radicale.disturb(() => undefined));
afterAll(async () => {
  await calendar.close?.();
  await contacts.close?.();
  await radicale?.close();
});

const preview = (app: Integration, action: string, args: Record<string, unknown>) =>
  createPreviewer(app, { settings })(action, args);
const put = (path: string, text: string) =>
  radicale.ask("PUT", `/ana/${path}`, text, {
    "content-type": path.endsWith("ics") ? "text/calendar" : "text/vcard",
  });
const codes = ({ effects }: { readonly effects: readonly { readonly code: string }[] }) =>
  effects.map(({ code }) => code);

describe("previews on a server", () => {
  it("read the event once, and send nothing that acts", async () => {
    await put("personal/inv.ics", ics(INVITED));
    radicale.seen.length = 0;
    const args = { ...review, weekday: "Friday", start: "2026-12-04T09:00", zone: "Europe/Berlin" };
    expect(await preview(calendar, "update_event", args)).toMatchObject({
      summary: 'Move "Review" from Thu 3 Dec 2026, 14:00 to Fri 4 Dec 2026, 09:00',
      undo: { possible: true },
    });
    const methods = radicale.seen.map((line) => line.split(" ")[0]);
    expect(radicale.seen.filter((line) => line === "GET /ana/personal/inv.ics")).toHaveLength(1);
    // One for each calendar.
    expect(methods.filter((method) => method === "REPORT")).toHaveLength(2);
    expect(methods.filter((method) => !["GET", "PROPFIND", "REPORT", "OPTIONS"].includes(method ?? ""))).toEqual([]);
  });

  it("say who is told where the server tells them, and who is not", async () => {
    await put("personal/inv.ics", ics(INVITED));
    const seen = await preview(calendar, "delete_event", review);
    expect(codes(seen)).toEqual(["keeps_copy", "notifies_nobody"]);
    const schedule = { dav: "1, 2, calendar-access, calendar-auto-schedule" };
    radicale.disturb(({ method }) => (method === "OPTIONS" ? { status: 200, headers: schedule } : undefined));
    const told = async (action: string, args: Record<string, unknown>) =>
      (await preview(calendar, action, { ...review, ...args })).effects.find(({ code }) => code.startsWith("notifies"));
    expect(await told("delete_event", {})).toEqual({
      code: "notifies",
      text: "The calendar server tells Gus that you do not come.",
    });
    expect(await told("answer_invitation", { answer: "accepted" })).toEqual({
      code: "notifies",
      text: "The calendar server tells Gus the answer.",
    });
    expect((await told("update_event", { location: "Room 5" }))?.text).toBe(
      "It is Gus who invites: only your calendar changes.",
    );
    await put("personal/inv.ics", ics(INVITED.map((line) => line.replace("gus@", "ana@"))));
    expect((await told("update_event", { location: "Room 5" }))?.text).toBe("The calendar server tells Hana of it.");
    radicale.disturb(({ method }) => (method === "OPTIONS" ? { status: 405 } : undefined));
    expect((await told("update_event", { location: "Room 5" }))?.text).toBe(
      "Whether the calendar server tells Hana of it is not known.",
    );
  });

  it("say so where what is there beside could not be read", async () => {
    radicale.disturb(({ method }) => (method === "REPORT" ? { status: 503 } : undefined));
    const event = { title: "Off", weekday: "Friday", start: "2026-12-04", end: "2026-12-04", calendar: "personal" };
    expect(codes(await preview(calendar, "create_event", event))).toContain("not_looked");
    expect(codes(await preview(contacts, "create_contact", { name: "Ana" }))).toEqual(["not_looked"]);
  });

  it("show a contact that is gone from the server, and another one of its name", async () => {
    await put("people/gus.vcf", vcard("gus", "FN:Gus Miller", "N:Miller;Gus;;;", "EMAIL:gus1@example.org"));
    await put("people/gus0.vcf", vcard("gus0", "FN:Gus Miller", "N:Miller;Gus;;;", "EMAIL:gus0@example.org"));
    const seen = await preview(contacts, "delete_contact", { contact_id: "people/gus.vcf", name: "Gus Miller" });
    expect(seen.summary).toBe('Delete "Gus Miller" (gus1@example.org) from the address book "My people"');
    expect(seen.effects.map(({ text }) => text)).toEqual([
      "It is gone from the server; this service keeps it for the undo.",
      'Another one stays: "Gus Miller" (gus0@example.org).',
    ]);
  });

  it("refuse what the run would refuse", async () => {
    await put("personal/inv.ics", ics(INVITED));
    const refused = async (args: Record<string, unknown>) =>
      (await refusal(preview(calendar, "update_event", { ...review, location: "x", ...args }))).status;
    expect(await refused({ title: "Another" })).toBe(400);
    expect(await refused({ event_id: "personal/none.ics" })).toBe(404);
    const answer = { ...review, title: "Another", answer: "declined" };
    expect((await refusal(preview(calendar, "answer_invitation", answer))).status).toBe(400);
  });

  it("do not let run a call whose event is changed at the moment of the act", async () => {
    await put("personal/inv.ics", ics(INVITED));
    const { state } = await preview(calendar, "delete_event", review);
    const theirs = ics([...INVITED, "LOCATION:Theirs"]);
    radicale.disturb(async ({ method }) => {
      if (method === "DELETE") await put("personal/inv.ics", theirs);
      return undefined;
    });
    const run = createRunner(calendar, { settings, expectedState: state });
    const refused = await refusal(run("delete_event", review));
    expect([refused.status, refused.code]).toEqual([412, "state_changed"]);
    expect((await radicale.ask("GET", "/ana/personal/inv.ics")).text).toContain("LOCATION:Theirs");
  });
});

describe.each([
  { app: calendar, collection: "work", writes: CALENDAR_WRITES },
  { app: contacts, collection: "people", writes: CONTACT_WRITES },
])("changes by somebody else in $collection", ({ app, collection, writes }) => {
  it("never meet a write that was shown another state", { timeout: 3_600_000 }, async () => {
    const account = shareCollection(radicale, { settings, collection });
    const tally = await checkSeenState(writes, { integration: app, account, runs: RUNS });
    expect(tally.ran).toBeGreaterThan(RUNS / 5);
    expect(tally.changed).toBeGreaterThan(RUNS / 10);
  });
});
