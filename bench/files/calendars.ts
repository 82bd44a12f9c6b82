import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCalendarIntegration } from "../../src/apps/calendar/calendar-integration.ts";
import { createRunner } from "../../test/apps/run-action.ts";
import { listFiles } from "./packages.ts";
import { flatten, type Verdict } from "./verdict.ts";

const DAY = 86_400_000;
const MOST = 500;
/** Ranges of one file that are compared with another reader. */
const MAX_RANGES = 6;

interface Listed {
  readonly start: string;
  readonly title: string;
}
interface Agenda {
  readonly events: readonly Listed[];
  readonly notes: readonly string[];
}

const writeDay = (time: number) => new Date(time).toISOString().slice(0, 10);

/** All that `list_events` shows of a file from one time to another, in halves where there is too much for one answer. */
async function listOurs(folder: string, o: { from: number; to: number; zone: string }): Promise<Agenda> {
  const run = createRunner(createCalendarIntegration(), { settings: { folder, timeZone: o.zone } });
  const list = async (from: number, to: number): Promise<Agenda> => {
    const range = { from: writeDay(from), to: writeDay(to), zone: o.zone, limit: MOST };
    const { events, total, not_shown: notShown = [] } = await run("list_events", { ...range, query: "" });
    if (total <= MOST || to <= from) return { events, notes: notShown.map(({ why }: { why: string }) => why) };
    const middle = from + Math.floor((to - from) / DAY / 2) * DAY;
    const halves = [await list(from, middle), await list(middle + DAY, to)];
    return { events: halves.flatMap((one) => one.events), notes: halves.flatMap((one) => one.notes) };
  };
  const parts: Agenda[] = [];
  for (let from = o.from; from < o.to; from += 399 * DAY)
    parts.push(await list(from, Math.min(o.to, from + 399 * DAY) - DAY));
  return { events: parts.flatMap((one) => one.events), notes: parts.flatMap((one) => one.notes) };
}

async function withFile<T>(file: string, use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "svc-calendar-"));
  try {
    await mkdir(join(folder, "c"));
    await writeFile(join(folder, "c/a.ics"), await readFile(file));
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function judgeLists(file: string, ours: Agenda, mine: readonly string[], theirs: readonly string[]): Verdict {
  const [a, b] = [new Set(mine), new Set(theirs)];
  const differences = [
    ...[...b.difference(a)].map((one) => `${one} is missing`),
    ...[...a.difference(b)].map((one) => `${one} is too much`),
  ];
  const notes = [...new Set(ours.notes)].join(" ").slice(0, 300);
  return differences.length > 0 && notes !== "" ? { file, differences, refused: notes } : { file, differences };
}

/** The suite of KCalendarCore lists the days of each series from July 1996 to 2020, at most 501. */
export async function judgeDays(folder: string): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const file of await listFiles(folder, /\.ics$/)) {
    const known = `${file}.recurson.ref`;
    const text = await readFile(file, "latin1");
    // Several events or tasks share one list.
    if (!existsSync(known) || /BEGIN:VTODO/.test(text) || text.split("BEGIN:VEVENT").length !== 2) continue;
    const [, zone = "UTC"] = /^X-LibKCal-Testsuite-OutTZ:(.+?)\s*$/m.exec(text) ?? [];
    const all = (await readFile(known, "utf8")).split("\n").filter(Boolean);
    // Of what happens many times a day some days say enough.
    const theirs = /FREQ=(?:SECOND|MINUTE|HOUR)LY/.test(text) ? all.slice(0, 10) : all;
    const isWhole = theirs.length === all.length && all.length <= MOST;
    const last = isWhole ? Date.UTC(2022, 0, 1) : Date.parse(theirs.at(-1) ?? "1996-07-01") + DAY;
    const ours = await withFile(file, (at) => listOurs(at, { from: Date.UTC(1996, 6, 1), to: last, zone }));
    const days = ours.events
      .map(({ start }) => start.slice(0, 10))
      .filter((day) => day >= "1996-07-01" && (day < "2021" || theirs.includes(day)));
    verdicts.push(judgeLists(file, ours, days, theirs));
  }
  return verdicts;
}

/** Files of vCalendar 1.0 in the same suite, each with what it is in iCalendar. */
export async function judgeOldCalendars(folder: string, readers: string): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const file of await listFiles(folder, /\.vcs$/))
    if (existsSync(`${file}.ical.ref`)) verdicts.push(await judgeBeside(file, `${file}.ical.ref`, readers));
  return verdicts;
}

/** Every file of a suite beside what ical.js makes of it. */
export async function judgeBesideIcalJs(folder: string, readers: string): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const file of await listFiles(folder, /\.ics$/)) {
    if (/\/(?:zoneinfo|RecurrenceRule)\//.test(file)) continue;
    verdicts.push(await judgeBeside(file, file, readers));
  }
  return verdicts;
}

async function judgeBeside(file: string, known: string, readers: string): Promise<Verdict> {
  const text = await readFile(known, "utf8");
  const starts = [...text.matchAll(/^(?:DTSTART|RECURRENCE-ID)[^:\n]*(?::|:\n )(\d{4})(\d\d)(\d\d)/gm)];
  const days = starts.map(([, year, month, day]) => Date.UTC(Number(year), Number(month) - 1, Number(day)));
  const ranges: number[] = [];
  for (const day of days.filter((one) => one > Date.UTC(1900, 0)).toSorted((a, b) => a - b))
    if (ranges.length < MAX_RANGES && day > (ranges.at(-1) ?? 0) + 300 * DAY) ranges.push(day - 2 * DAY);
  const ours: { events: Listed[]; notes: string[] } = { events: [], notes: [] };
  let theirs: string[] = [];
  await withFile(file, async (folder) => {
    for (const from of ranges.length === 0 ? [Date.UTC(2020, 0, 1)] : ranges) {
      const range = { from, to: from + 398 * DAY, zone: "UTC" };
      const part = await listOurs(folder, range);
      ours.events.push(...part.events);
      ours.notes.push(...part.notes);
      theirs = theirs.concat(listTheirs(text, range, readers) ?? []);
    }
  });
  if (listTheirs(text, { from: 0, to: 1 }, readers) === undefined)
    return {
      file,
      differences: [],
      refused: `ical.js reads nothing of it; ours: ${ours.events.length} events. ${ours.notes.join(" ")}`,
    };
  const name = ({ start, title }: Listed) => `${start.replace(/:00\+00:00$|\+00:00$/, "")} ${flatten(title)}`;
  return judgeLists(file, ours, ours.events.map(name), theirs);
}

/** What ical.js lists, in UTC; undefined where it cannot read the text. */
function listTheirs(text: string, { from, to }: { from: number; to: number }, readers: string): string[] | undefined {
  const loaded = createRequire(join(readers, "package.json"))("ical.js");
  const ICAL = loaded.default ?? loaded;
  const found: string[] = [];
  let all: readonly unknown[];
  try {
    const parsed = ICAL.parse(text);
    all = Array.isArray(parsed[0]) ? parsed : [parsed];
  } catch {
    return undefined;
  }
  for (const one of all) {
    const root = new ICAL.Component(one);
    ICAL.TimezoneService.reset();
    for (const zone of root.getAllSubcomponents("vtimezone")) ICAL.TimezoneService.register(zone);
    const events = root
      .getAllSubcomponents("vevent")
      .map((event: unknown) => new ICAL.Event(event, { strictExceptions: true, exceptions: [] }));
    const masters = events.filter((event: { isRecurrenceException(): boolean }) => !event.isRecurrenceException());
    for (const event of events) {
      const isKnown = masters.some((master: { uid: string }) => master.uid === event.uid);
      if (event.isRecurrenceException() && isKnown)
        masters.find((master: { uid: string }) => master.uid === event.uid).relateException(event);
      else if (event.isRecurrenceException()) found.push(...listOccurrences(event, { from, to }));
    }
    for (const event of masters) found.push(...listOccurrences(event, { from, to }));
  }
  return found;
}

interface TheirTime {
  readonly isDate: boolean;
  toJSDate(): Date;
  toString(): string;
}
interface TheirEvent {
  readonly startDate: TheirTime;
  readonly endDate: TheirTime;
  readonly summary: string | null;
  isRecurring(): boolean;
  isRecurrenceException(): boolean;
  iterator(): { next(): TheirTime | undefined };
  getOccurrenceDetails(at: TheirTime): { startDate: TheirTime; endDate: TheirTime; item: { summary: string | null } };
}

function listOccurrences(event: TheirEvent, { from, to }: { from: number; to: number }): string[] {
  const found: string[] = [];
  const toTime = (time: TheirTime) => Date.parse(time.isDate ? time.toString() : time.toJSDate().toISOString());
  const add = (start: TheirTime, end: TheirTime, title: string | null) => {
    if (toTime(start) >= to || (toTime(end) <= from && toTime(start) < from)) return;
    const text = start.isDate ? start.toString() : start.toJSDate().toISOString().slice(0, 16);
    found.push(`${text} ${flatten(title ?? "")}`);
  };
  try {
    if (!event.isRecurring() || event.isRecurrenceException()) {
      add(event.startDate, event.endDate, event.summary);
      return found;
    }
    const each = event.iterator();
    for (
      let next = each.next(), count = 0;
      next && count < 20_000 && toTime(next) < to + 30 * DAY;
      next = each.next(), count += 1
    ) {
      const { startDate, endDate, item } = event.getOccurrenceDetails(next);
      add(startDate, endDate, item.summary);
    }
  } catch (error) {
    found.push(`ical.js: ${String(error).slice(0, 100)}`);
  }
  return found;
}
