import { expect, it } from "vitest";
import { createCalendarIntegration } from "../../../src/apps/calendar/calendar-integration.ts";
import { createRunner } from "../run-action.ts";
import { createTeller, listOwn, textOf } from "../tell-authors.ts";
import { useCalendarFolder } from "./kit/calendar-folder.ts";
import { ics } from "./kit/write-ics.ts";

const integration = createCalendarIntegration();
const { folder, put } = useCalendarFolder();
const optionsFor = (address?: string) => ({
  settings: { folder: folder(), timeZone: "Europe/Berlin", ...(address !== undefined && { address }) },
});
const WHEN = ["DTSTART:20261123T090000Z", "DTEND:20261123T100000Z"];

async function layAll() {
  const lay = (name: string, lines: string[]) =>
    put(`home/${name}.ics`, ics([`UID:${name}`, ...WHEN, `SUMMARY:Title ${name}`, `LOCATION:Room ${name}`, ...lines]));
  await lay("plain", []);
  await lay("mine", ["ORGANIZER:mailto:SAM@own.example", "ATTENDEE:mailto:bea@x.example"]);
  await lay("theirs", ["ORGANIZER;CN=Eve:mailto:eve@evil.example", "ATTENDEE:mailto:sam@own.example"]);
  await lay("sent", ['ORGANIZER;SENT-BY="mailto:eve@evil.example":mailto:sam@own.example']);
  await lay("delegated", [
    "ORGANIZER:mailto:eve@evil.example",
    'ATTENDEE;DELEGATED-FROM="mailto:sam@own.example":mailto:b@x.example',
  ]);
}

const OWN = { plain: "yours", mine: "yours", theirs: "somebody", sent: "somebody", delegated: "somebody" };

it("an event is of its organizer, or of whoever sent it in that name", async () => {
  await layAll();
  const tell = createTeller(integration, optionsFor("sam@own.example"));
  const listed = await tell("list_events", { from: "2026-11-23", to: "2026-11-23" });
  const named = Object.fromEntries(listed.map(({ source }) => [source.title?.replace("Title ", ""), source.whose]));
  expect(named).toEqual(OWN);
  for (const [name, whose] of Object.entries(OWN)) {
    const [part] = await tell("read_event", { event_id: `home/${name}.ics` });
    expect([name, part?.source.whose, part?.source.kind]).toEqual([
      name,
      whose,
      whose === "yours" ? "event" : "invitation",
    ]);
  }
  const [theirs] = await tell("read_event", { event_id: "home/theirs.ics" });
  expect(theirs?.source).toMatchObject({
    by: "Eve <eve@evil.example>",
    title: "Title theirs",
    at: expect.stringMatching(/^2026-11-23/),
  });
  for (const [id, args] of Object.entries({
    list_calendars: {},
    find_free_time: { from: "2026-11-23", to: "2026-11-23" },
  }))
    expect((await tell(id, args)).map(({ source }) => source.whose)).toEqual(["yours"]);
});

it("an event with an organizer is somebody's where the account has no address", async () => {
  await layAll();
  const listed = await createTeller(integration, optionsFor())("list_events", { from: "2026-11-23", to: "2026-11-23" });
  expect(listed.filter(({ source }) => source.whose === "yours").map(({ source }) => source.title)).toEqual([
    "Title plain",
  ]);
});

it("a write makes nothing the owner's", async () => {
  await layAll();
  const options = optionsFor("sam@own.example");
  const run = createRunner(integration, options);
  const find = (id: string) => integration.actions.find((one) => one.id === id)?.authored;
  const connection = { id: "1", integration: "calendar", label: "", scopes: [], settings: options.settings };
  const made = await run("create_event", {
    title: "New",
    start: "2026-11-25T09:00",
    end: "2026-11-25T10:00",
    weekday: "Wednesday",
    zone: "Europe/Berlin",
  });
  expect(find("create_event")?.(made, {}, { connection })).toEqual([]);
  const answered = await run("answer_invitation", {
    event_id: "home/theirs.ics",
    title: "Title theirs",
    answer: "accepted",
  });
  expect(find("answer_invitation")?.(answered, {}, { connection })).toMatchObject([{ source: { kind: "invitation" } }]);
});

it("own events are told with all that they show, without invitations", async () => {
  await layAll();
  await put("home/bad.ics", "BEGIN:VCALENDAR");
  await put("home/long-ago.ics", ics(["UID:old", "DTSTART:20200101T090000Z", "DURATION:PT1H", "SUMMARY:Long ago"]));
  const options = optionsFor("sam@own.example");
  const parts = await listOwn(integration, options);
  expect(parts.map(({ source }) => source.title ?? source.kind).toSorted()).toEqual([
    "Title mine",
    "Title plain",
    "account",
  ]);
  const text = textOf(parts, "yours");
  for (const value of ["sam@own.example", "bea@x.example", "Room mine"]) expect(text).toContain(value);
  for (const value of ["evil", "Room theirs", "Room sent"]) expect(text).not.toContain(value);
  expect(await listOwn(integration, { ...options, signal: AbortSignal.abort() })).toEqual([]);
});
