import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createCalendarIntegration } from "../../../src/apps/calendar/calendar-integration.ts";
import { ics } from "../calendar/kit/write-ics.ts";
import { createRunner, refusal } from "../run-action.ts";
import { startRadicale, type TestRadicale } from "./kit/start-radicale.ts";

let radicale: TestRadicale;
let run: ReturnType<typeof createRunner>;
const integration = createCalendarIntegration();

beforeAll(async () => {
  radicale = await startRadicale();
  const { url: server, user, password } = radicale;
  run = createRunner(integration, {
    settings: { server, user, password, address: "ana@example.org", timeZone: "Europe/Berlin" },
  });
});
beforeEach(() => {
  radicale.seen.length = 0;
  radicale.disturb(() => undefined);
});
afterAll(async () => {
  await integration.close?.();
  await radicale?.close();
});

const put = (name: string, ...events: (readonly string[])[]) =>
  radicale.ask("PUT", `/ana/personal/${name}.ics`, ics(...events), { "content-type": "text/calendar" });
const RANGE = { from: "2026-11-01", to: "2026-11-30" };
const ZONE = { zone: "Europe/Berlin" };

it("lists calendars, and events of a range with all their instances", async () => {
  expect((await run("list_calendars", {})).calendars).toEqual([
    { calendar_id: "personal", name: "My personal" },
    { calendar_id: "work", name: "My work" },
  ]);
  const start = "DTSTART;TZID=Europe/Berlin:20200106T090000";
  await put("old", ["UID:old", "SUMMARY:Weekly", start, "RRULE:FREQ=WEEKLY;BYDAY=MO", "DURATION:PT1H"]);
  await put("day", ["UID:day", "SUMMARY:Day", "DTSTART;VALUE=DATE:20261130"]);
  await put("past", ["UID:past", "SUMMARY:Past", "DTSTART:20250101T100000Z"]);
  const { events } = await run("list_events", RANGE);
  expect(events.map(({ start, title }: Record<string, string>) => `${start} ${title}`)).toEqual([
    "2026-11-02T09:00:00+01:00 Weekly",
    "2026-11-09T09:00:00+01:00 Weekly",
    "2026-11-16T09:00:00+01:00 Weekly",
    "2026-11-23T09:00:00+01:00 Weekly",
    "2026-11-30 Day",
    "2026-11-30T09:00:00+01:00 Weekly",
  ]);
  for (const name of ["old", "day", "past"]) await radicale.ask("DELETE", `/ana/personal/${name}.ics`);
});

it("creates, changes one instance, answers, deletes; the server has what was written", async () => {
  const made = await run("create_event", {
    title: "Review, äöü",
    weekday: "Monday",
    start: "2026-11-02T09:00",
    end: "2026-11-02T10:00",
    ...ZONE,
    rrule: "FREQ=WEEKLY;COUNT=4",
    calendar: "My work",
  });
  expect(made).toMatchObject({ calendar_id: "work", when: "Monday 2 November 2026, 09:00 to 10:00 (Europe/Berlin)" });
  const target = { event_id: made.event_id, title: "Review, äöü" };
  const one = { ...target, instance: "2026-11-09T09:00" };
  await run("update_event", { ...one, weekday: "Tuesday", start: "2026-11-10T11:00", ...ZONE });
  await run("delete_event", { ...target, instance: "2026-11-16T09:00" });
  const { events } = await run("list_events", RANGE);
  expect(events.map(({ start }: { start: string }) => start.slice(0, 16))).toEqual([
    "2026-11-02T09:00",
    "2026-11-10T11:00",
    "2026-11-23T09:00",
  ]);
  const { text } = await radicale.ask("GET", `/ana/${made.event_id}`);
  expect(text).toContain("EXDATE;TZID=Europe/Berlin:20261116T090000");
  expect(await run("delete_event", { ...target, whole_series: true })).toMatchObject({ deleted: true });
  expect((await radicale.ask("GET", `/ana/${made.event_id}`)).status).toBe(404);

  const attendee = "ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:ana@example.org";
  await put("inv", ["UID:inv", "SUMMARY:Inv", "DTSTART:20261105T100000Z", attendee, "X-KEPT;A=b:as it, is;"]);
  const invited = { event_id: "personal/inv.ics", title: "Inv", answer: "tentative" };
  expect(await run("answer_invitation", invited)).toMatchObject({ your_answer: "tentative" });
  const kept = (await radicale.ask("GET", "/ana/personal/inv.ics")).text;
  expect(kept).toContain("ATTENDEE;PARTSTAT=TENTATIVE:mailto:ana@example.org");
  expect(kept).toMatch(/X-KEPT;A=b:as it/);
});

it("lists events also where the server does not tell the addresses of the account", async () => {
  await put("one", ["UID:one", "SUMMARY:One", "DTSTART:20261105T100000Z"]);
  const meet = (status: number) =>
    radicale.disturb(({ method }) => {
      const isAfter = method === "PROPFIND" && radicale.seen.some((line) => line.startsWith("REPORT"));
      return isAfter ? { status } : undefined;
    });
  meet(403);
  expect((await run("list_events", RANGE)).events).toContainEqual(expect.objectContaining({ title: "One" }));
  radicale.seen.length = 0;
  meet(503);
  expect(await refusal(run("list_events", RANGE))).toMatchObject({ status: 503 });
  radicale.disturb(() => undefined);
  await radicale.ask("DELETE", "/ana/personal/one.ics");
});

describe("writes", () => {
  it.each(["update", "delete"])("do not %s what somebody else wrote after the event was read", async (action) => {
    await put("race", ["UID:race", "SUMMARY:Race", "DTSTART:20261105T100000Z"]);
    const theirs = ["UID:race", "SUMMARY:Race", "LOCATION:Theirs", "DTSTART:20261105T100000Z"];
    radicale.disturb(async ({ method }) => {
      if (method !== "PUT" && method !== "DELETE") return undefined;
      radicale.disturb(() => undefined);
      await put("race", theirs);
      return undefined;
    });
    const more = action === "update" ? { location: "Mine" } : {};
    const write = run(`${action}_event`, { event_id: "personal/race.ics", title: "Race", ...more });
    expect(await refusal(write)).toMatchObject({ status: 409, code: "conflict" });
    expect((await radicale.ask("GET", "/ana/personal/race.ics")).text).toContain("LOCATION:Theirs");
  });

  it("do not take the place of an event that is there", async () => {
    radicale.disturb(async ({ method, path, headers }) => {
      if (method !== "PUT") return undefined;
      expect(headers["if-none-match"]).toBe("*");
      radicale.disturb(() => undefined);
      await radicale.ask("PUT", path, ics(["UID:theirs", "SUMMARY:Theirs", "DTSTART:20261105T100000Z"]));
      return undefined;
    });
    const create = { title: "Mine", weekday: "Friday", start: "2026-11-27", end: "2026-11-27", calendar: "work" };
    expect(await refusal(run("create_event", create))).toMatchObject({ status: 409, code: "conflict" });
  });

  it("are not sent again when their answer is lost", async () => {
    const create = { title: "Lost", weekday: "Friday", start: "2026-11-27", end: "2026-11-27", calendar: "work" };
    radicale.disturb(({ method }) => (method === "PUT" ? { drop: true } : undefined));
    const lost = await refusal(run("create_event", create));
    expect([lost.status, lost.code, lost.options.hint]).toEqual([
      500,
      "outcome_unknown",
      expect.stringMatching(/check with a read/),
    ]);
    expect(radicale.seen.filter((line) => line.startsWith("PUT"))).toHaveLength(1);
  });

  it("are done when only the look at what they left fails", async () => {
    radicale.disturb(({ method }) => (method === "GET" ? { status: 503 } : undefined));
    const create = { title: "Done", weekday: "Friday", start: "2026-11-27", end: "2026-11-27", calendar: "work" };
    expect(await run("create_event", create)).toMatchObject({ title: "Done", calendar_id: "work" });
  });

  it("reach nothing outside of the calendars of the account", async () => {
    for (const id of [
      "people/x.vcf",
      "personal/.",
      "personal/..",
      "personal/",
      "personal/../people/x.vcf",
      "personal/%2e%2e/people/x",
      "work/?a",
      "/ana/x.ics",
      "x",
    ])
      expect((await refusal(run("read_event", { event_id: id }))).status, id).toBe(404);
    expect(radicale.seen.filter((line) => line.startsWith("GET") && !line.includes("well-known"))).toEqual([]);
  });
});

describe("the password", () => {
  it("goes to no other host, neither by a redirect nor by an address of the server", async () => {
    const thief = await startRadicale();
    const { url: server, user, password } = radicale;
    const other = createCalendarIntegration();
    try {
      for (const status of [301, 307]) {
        radicale.disturb(({ method }) =>
          method === "PROPFIND" ? { status, headers: { location: `${thief.url}/ana/` } } : undefined,
        );
        const run = createRunner(other, { settings: { server, user, password } });
        const refused = await refusal(run("list_calendars", {}));
        expect([refused.status, refused.message]).toEqual([
          422,
          expect.stringContaining("given to no host but the one named"),
        ]);
      }
      const href = `<multistatus xmlns="DAV:"><response><href>/</href><propstat><prop><current-user-principal><href>${thief.url}/ana/</href></current-user-principal></prop><status>HTTP/1.1 200 OK</status></propstat></response></multistatus>`;
      radicale.disturb(({ method }) =>
        method === "PROPFIND" ? { status: 207, headers: { "content-type": "text/xml" }, body: href } : undefined,
      );
      expect(
        (await refusal(createRunner(other, { settings: { server, user, password } })("list_calendars", {}))).status,
      ).toBe(422);
      expect(thief.seen).toEqual([]);
    } finally {
      await other.close?.();
      await thief.close();
    }
  });

  it("is tried when the owner connects, and what is wrong is named", async () => {
    const { url: server, user, password } = radicale;
    const test = (settings: Record<string, unknown>) =>
      integration.testSettings?.(settings, new AbortController().signal) ?? Promise.resolve();
    await test({ server, user, password });
    await test({ server: `${server}/ana/`, user, password });
    const settingOf = async (settings: Record<string, unknown>) =>
      (await refusal(test(settings))).options.extra?.setting;
    expect(await settingOf({ server, user, password: "wrong" })).toBe("password");
    expect(await settingOf({ server, user: "", password })).toBe("user");
    expect(await settingOf({ server, user, password: "" })).toBe("password");
    expect(await settingOf({ server: "http://192.0.2.1", user, password })).toBe("server");
    expect(await settingOf({ server: "https://192.168.0.1", user, password })).toBe("server");
  });
});
