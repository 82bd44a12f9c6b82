import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createCalendarIntegration } from "../../../../src/apps/calendar/calendar-integration.ts";
import { createContactsIntegration } from "../../../../src/apps/contacts/contacts-integration.ts";
import type { KeptWrite } from "../../../../src/apps/port/undo.ts";
import { useTempFolder } from "../../../service/files/temp-folder.ts";
import { ics } from "../../calendar/kit/write-ics.ts";
import { createKeeper, refusal } from "../../run-action.ts";

const temp = useTempFolder();
const REVIEW = ics([
  "UID:r",
  "SUMMARY:Review",
  "DTSTART;TZID=Europe/Berlin:20261203T140000",
  "DTEND;TZID=Europe/Berlin:20261203T150000",
  "ORGANIZER;CN=Gus:mailto:gus@example.org",
  "ATTENDEE:mailto:ana@example.org",
  "LOCATION:Room 1",
]);
const DAILY = ics(["UID:d", "SUMMARY:Daily", "DTSTART:20261130T090000Z", "RRULE:FREQ=DAILY;COUNT=9"]);
const GUS = "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:g\r\nFN:Gus\r\nN:;Gus;;;\r\nNOTE:old\r\nEND:VCARD\r\n";
const review = { event_id: "c/r.ics", title: "Review" };
const gus = { contact_id: "c/g.vcf", name: "Gus" };

const put = (path: string, text: string | Buffer) => {
  mkdirSync(join(temp(), "c"), { recursive: true });
  writeFileSync(join(temp(), path), text);
};
const read = (path: string) => readFileSync(join(temp(), path), "utf8");
const listTrash = () =>
  readdirSync(join(temp(), ".trash"), { recursive: true, withFileTypes: true }).filter((one) => one.isFile());

function open(app: "calendar" | "contacts") {
  const settings = { folder: temp(), timeZone: "Europe/Berlin", address: "ana@example.org" };
  const keeper = createKeeper(app === "calendar" ? createCalendarIntegration() : createContactsIntegration(), {
    settings,
  });
  return {
    ...keeper,
    /** Runs a write, and plans its undo. */
    async write(id: string, args: Record<string, unknown>) {
      const { kept, ...done } = await keeper.run(id, args);
      if (kept === undefined || !("output" in done)) throw new Error(`${id} kept nothing`, { cause: done });
      return { ...done, kept, plan: () => keeper.plan(id, kept), settle: () => keeper.settle(id, lose(kept)) };
    },
  };
}

const lose = ({ intent }: KeptWrite): KeptWrite => ({ intent, after: undefined });

it("shows an event that moves back, with both times, what goes, and what stays in the trash", async () => {
  put("c/r.ics", REVIEW);
  const change = { weekday: "Friday", start: "2026-12-04T09:00", zone: "Europe/Berlin", location: "Room 2; new" };
  const { plan } = await open("calendar").write("update_event", { ...review, ...change });
  const { preview, raised, act } = await plan();
  expect(preview).toMatchObject({
    summary: 'Move "Review" back from Fri 4 Dec 2026, 09:00 to Thu 3 Dec 2026, 14:00',
    objects: [{ kind: "event", name: "Review" }],
    undo: { possible: false, why: "The file as it is now is kept in .trash; a human can bring it back." },
  });
  expect(preview.changes.map(({ field, before, after }) => [field, before, after])).toEqual([
    ["Time", expect.stringContaining("4 December 2026, 09:00"), expect.stringContaining("3 December 2026, 14:00")],
    ["Place", "Room 2; new", "Room 1"],
  ]);
  expect(preview.effects.map(({ code }) => code)).toEqual(["notifies_nobody", "is_free"]);
  expect(raised).toEqual({ level: "delete", says: "replaces what is there now" });
  expect(await act()).toMatchObject({ event_id: "c/r.ics", start: "2026-12-03T14:00:00+01:00", location: "Room 1" });
  expect(read("c/r.ics")).toBe(REVIEW);
});

it("shows an event that comes back from the trash, and moves it from there", async () => {
  put("c/r.ics", REVIEW);
  const { plan } = await open("calendar").write("delete_event", review);
  expect(listTrash()).toHaveLength(1);
  const { preview, raised, act } = await plan();
  expect(preview.summary).toBe('Bring back "Review" from the trash to "c" (Thu 3 Dec 2026, 14:00 to 15:00)');
  expect(raised).toBeUndefined();
  expect(await act()).toMatchObject({ event_id: "c/r.ics", title: "Review" });
  expect(read("c/r.ics")).toBe(REVIEW);
  expect(readdirSync(join(temp(), ".trash"))).toEqual([]);
});

it("brings back what was removed also where somebody emptied the trash, or changed what is in it", async () => {
  // No UTF-8.
  const bytes = Buffer.from(REVIEW.replace("Room 1", "R\xe4um"), "latin1");
  for (const spoil of [(path: string) => rmSync(path), (path: string) => writeFileSync(path, "theirs")]) {
    put("c/r.ics", bytes);
    const { plan } = await open("calendar").write("delete_event", review);
    const [trashed] = listTrash();
    const path = join(trashed?.parentPath ?? "", trashed?.name ?? "");
    spoil(path);
    const { preview, act } = await plan();
    expect(preview.summary).toBe('Bring back "Review" to "c" (Thu 3 Dec 2026, 14:00 to 15:00)');
    await act();
    expect(readFileSync(join(temp(), "c/r.ics")).equals(bytes)).toBe(true);
    rmSync(path, { force: true });
  }
});

it("is refused where the copy in the trash is changed between plan and act", async () => {
  put("c/r.ics", REVIEW);
  const { plan } = await open("calendar").write("delete_event", review);
  const { act } = await plan();
  const [trashed] = listTrash();
  writeFileSync(join(trashed?.parentPath ?? "", trashed?.name ?? ""), "theirs");
  expect((await refusal(act())).code).toBe("state_changed");
  expect(readdirSync(join(temp(), "c"))).toEqual([]);
  expect(listTrash()).toHaveLength(1);
});

it("shows one time of a series that comes back, an answer that is taken back, and a new event that goes", async () => {
  put("c/d.ics", DAILY);
  put("c/r.ics", REVIEW);
  const { write } = open("calendar");
  const one = { event_id: "c/d.ics", title: "Daily", instance: "2026-12-02T09:00:00Z" };
  const removed = await (await write("delete_event", one)).plan();
  expect(removed.preview.summary).toBe('Bring back one time of "Daily" to "c" (Wed 2 Dec 2026, 10:00)');
  expect(removed.raised).toBeUndefined();
  await removed.act();
  expect(read("c/d.ics")).toBe(DAILY);
  const answered = await (await write("answer_invitation", { ...review, answer: "accepted" })).plan();
  expect(answered.preview).toMatchObject({
    summary: 'Take back the answer to the invitation "Review" from "Gus" (Thu 3 Dec 2026, 14:00)',
    changes: [{ field: "Your answer", before: "accepted", after: "no answer" }],
    effects: [{ code: "notifies_nobody" }],
  });
  await answered.act();
  expect(read("c/r.ics")).toBe(REVIEW);
  const event = { title: "Off", weekday: "Friday", start: "2026-12-04", end: "2026-12-04", calendar: "c" };
  const created = await (await write("create_event", event)).plan();
  expect(created.preview).toMatchObject({
    summary: 'Take "Off" out of "c" again (Fri 4 Dec 2026)',
    effects: [{ code: "moves_to_trash" }],
  });
  expect(created.raised).toEqual({ level: "delete", says: "takes away the event" });
  expect(await created.act()).toMatchObject({ deleted: true, trashed_to: expect.stringMatching(/^\.trash\/.*\.ics$/) });
});

it("shows contacts that are changed back, come back, and go", async () => {
  put("c/g.vcf", GUS);
  const { write } = open("contacts");
  const changed = await (await write("update_contact", { ...gus, note: "new", nickname: "G" })).plan();
  expect(changed.preview).toMatchObject({
    summary: 'Change "Gus" back to how it was before',
    changes: [{ field: "Nickname", before: "G" }, { field: "Note" }],
    effects: [{ code: "removes", text: "Removed: nickname." }],
  });
  expect(changed.raised?.level).toBe("delete");
  await changed.act();
  expect(read("c/g.vcf")).toBe(GUS);
  const removed = await (await write("delete_contact", gus)).plan();
  expect(removed.preview.summary).toBe('Bring back "Gus" from the trash to "c"');
  await removed.act();
  expect(read("c/g.vcf")).toBe(GUS);
  const created = await (await write("create_contact", { name: "Hana" })).plan();
  expect(created.preview.summary).toBe('Take "Hana" out of the address book "c"');
  expect(created.raised).toEqual({ level: "delete", says: "takes away the contact" });
});

it("keeps nothing of a change that changes nothing", async () => {
  put("c/g.vcf", GUS);
  const { kept, ...done } = await open("contacts").run("update_contact", { ...gus, note: "old" });
  expect([kept, done]).toEqual([undefined, { output: expect.objectContaining({ name: "Gus" }) }]);
});

it("keeps an item of the largest size in the room that there is", async () => {
  const line = `X-ODD:${'\u0001\t\\"'.repeat(17)}\r\n`;
  put("c/g.vcf", GUS.replace("NOTE:old\r\n", line.repeat(Math.floor((2 * 1024 * 1024 - 300) / line.length))));
  const { kept, plan } = await open("contacts").write("update_contact", { ...gus, note: "new" });
  expect(JSON.stringify(kept.intent).length).toBeLessThan(8 * 1024 * 1024);
  const before = read("c/g.vcf");
  await (await plan()).act();
  expect(read("c/g.vcf")).toBe(before.replace(/NOTE:new\r\nREV.*\r\n/, ""));
});

it("finds out where an event is after its answer was lost, and says what it cannot know", async () => {
  put("c/r.ics", REVIEW);
  const { write } = open("calendar");
  const event = { title: "Off", weekday: "Friday", start: "2026-12-04", end: "2026-12-04", calendar: "c" };
  const created = await write("create_event", event);
  expect(await created.settle()).toEqual({ verdict: "happened", output: created.output, after: created.kept.after });
  const path = String(created.output.event_id);
  const made = read(path);
  put(path, made.replace("SUMMARY:Off", "SUMMARY:Theirs"));
  expect(await created.settle()).toMatchObject({ verdict: "happened", after: {} });
  rmSync(join(temp(), path));
  put("c/other.ics", made);
  expect(await created.settle()).toEqual({ verdict: "cannot_know", why: '"Off" is in "c" under another name.' });
  rmSync(join(temp(), "c/other.ics"));
  expect(await created.settle()).toEqual({ verdict: "did_not" });

  const removed = await write("delete_event", review);
  expect(await removed.settle()).toEqual({
    verdict: "happened",
    output: expect.objectContaining({ ...removed.output }),
    after: {},
  });
  rmSync(join(temp(), ".trash"), { recursive: true });
  const gone = '"Review" is neither in "c" nor in the trash.';
  expect(await removed.settle()).toEqual({ verdict: "cannot_know", why: gone });
});

it("brings nothing back to a place that is taken, and does not know then whether the call took effect", async () => {
  put("c/r.ics", REVIEW);
  const { plan, settle } = await open("calendar").write("delete_event", review);
  put("c/r.ics", DAILY);
  expect((await refusal(plan())).message).toBe('This cannot be undone: the place of "Review" in "c" is taken.');
  const why = '"Review" is in its place and in the trash.';
  expect(await settle()).toEqual({ verdict: "cannot_know", why });
  rmSync(join(temp(), ".trash"), { recursive: true });
  expect(await settle()).toEqual({ verdict: "cannot_know", why: '"Review" was changed by somebody else.' });
  put("c/r.ics", REVIEW);
  expect(await settle()).toEqual({ verdict: "did_not" });
});

it("takes back no change of what is gone, and does not know then whether the call took effect", async () => {
  put("c/r.ics", REVIEW);
  const { plan, settle } = await open("calendar").write("update_event", { ...review, location: "Room 2" });
  rmSync(join(temp(), "c/r.ics"));
  expect((await refusal(plan())).message).toBe('This cannot be undone: "Review" is not in "c" any more.');
  expect(await settle()).toEqual({ verdict: "cannot_know", why: '"Review" is not in "c" any more.' });
  put("c/r.ics", REVIEW);
  expect(await settle()).toEqual({ verdict: "did_not" });
});
