import { shortenText } from "../../../shared/base/text.ts";
import { DAY_MS, makeLocal, toDay, toInstant, toLocal, type Zone } from "../../../shared/base/zones.ts";
import { type ContentBlock, listLines } from "../../collections/content-tree.ts";
import { firstParam, listGuesses, readDuration, readRawLine } from "../../collections/content-values.ts";
import type { Span } from "../time/read-time.ts";
import { readRules } from "../time/recurrence-rule.ts";
import type { CalendarFile, Series } from "./calendar-file.ts";
import { readTitle } from "./describe-event.ts";
import { listTimes, momentToInstant, readFirstMoment, readMoment, writeMoment } from "./moment.ts";
import { readTiming } from "./starts.ts";

/** Something of a series that is not shown, or guessed. */
export interface Oddity {
  /** In a sentence. */
  readonly why: string;
  /** Times that may be taken by it beside those of its instances. */
  readonly busy: readonly Span[];
}

/** What of a series cannot be read, as far as it may concern a span. Days and times without a zone are those of `zone`. */
export function listOddities(
  file: CalendarFile,
  series: Series,
  o: { readonly span: Span; readonly zone: Zone },
): Oddity[] {
  const events = [...(series.master === undefined ? [] : [series.master]), ...series.overrides];
  return events.flatMap((event) => {
    const timing = readTiming(event, file, o.zone);
    const starts = timing && momentToInstant(timing.start, o.zone);
    if (starts !== undefined && starts >= o.span.to) return [];
    const title = `"${shortenText(readTitle(event), 100)}"`;
    const isRuled = event !== series.master && listLines(event, "RRULE").length > 0;
    const ruled = isRuled ? [{ why: `A rule of one instance of ${title} is not used.`, busy: [o.span] }] : [];
    const guesses = listGuesses(event).map((why) => ({ why: `${title}: ${why}`, busy: [] }));
    return [
      ...listBadTimes(event, file, o).map((one) => ({ ...one, why: `${one.why} of ${title} cannot be read.` })),
      ...listBadRules(event, title, { ...o, starts, length: timing?.length ?? 0 }),
      ...ruled,
      ...guesses,
    ];
  });
}

/** Lines with times that cannot be read, with the days they may mean. */
function listBadTimes(event: ContentBlock, file: CalendarFile, { span, zone }: { span: Span; zone: Zone }): Oddity[] {
  const bad = ["DTSTART", "DTEND", "RDATE", "EXDATE", "RECURRENCE-ID"].flatMap((name) =>
    listLines(event, name).flatMap((line): Oddity[] => {
      const raw = readRawLine(line);
      const tzid = firstParam(raw?.params ?? {}, "tzid") ?? "";
      const found = file.zonesOf(event)(tzid);
      const values = raw === undefined ? [""] : listTimes(raw.value);
      const unread = values.filter((text) => readMoment(text.split("/")[0] ?? "", found) === undefined);
      const isLost = found.isGuess && tzid !== "" && !/^DT/.test(name) && unread.length === 0;
      const why = isLost
        ? `The zone "${shortenText(tzid, 100)}" in ${name}`
        : `${name} "${shortenText(unread[0] ?? "", 100)}"`;
      if (unread.length === 0 && !isLost && values.length > 0) return [];
      const busy =
        name === "EXDATE" || isLost
          ? []
          : (unread.length > 0 ? unread : [""]).map((text) => guessDay(text, { span, zone }));
      return [{ why, busy }];
    }),
  );
  if (listLines(event, "DTSTART").length === 0) bad.push({ why: "The missing DTSTART", busy: [span] });
  const [line] = listLines(event, "DURATION");
  const length = line && readRawLine(line)?.value;
  const [start, end] = ["DTSTART", "DTEND"].map((name) => readFirstMoment(event, name, file.zonesOf(event)));
  if (start && end && momentToInstant(end, zone) < momentToInstant(start, zone))
    bad.push({ why: "DTEND before DTSTART", busy: [guessDay(writeMoment(start), { span, zone })] });
  if (length === undefined || isForward(length)) return bad;
  return [...bad, { why: `DURATION "${shortenText(length, 100)}"`, busy: [span] }];
}

function isForward(text: string): boolean {
  const length = readDuration(text);
  return length !== undefined && length.days >= 0 && length.ms >= 0;
}

/** The day that a text may mean, or else any time. */
function guessDay(text: string, { span, zone }: { span: Span; zone: Zone }): Span {
  const [, year, month, day] = /^\D*(\d{4})-?(\d\d)-?(\d\d)(?!\d)/.exec(text) ?? [];
  const at = makeLocal(Number(year), Number(month), Number(day));
  if (year === undefined || new Date(at).getUTCDate() !== Number(day)) return span;
  return { from: toInstant(at - DAY_MS / 2, zone), to: toInstant(at + 1.5 * DAY_MS, zone) };
}

function listBadRules(
  event: ContentBlock,
  title: string,
  o: { readonly span: Span; readonly zone: Zone; readonly starts: number | undefined; readonly length: number },
): Oddity[] {
  return (["RRULE", "EXRULE"] as const).flatMap((name) => {
    const { oddities, failed } = readRules(event, name);
    if (oddities.length === 0) return [];
    const effect =
      failed.length === 0
        ? "its times may be wrong"
        : name === "RRULE"
          ? "further times are missing"
          : "times that it takes out are shown";
    const busy =
      name === "RRULE" && failed.length > 0 && o.starts !== undefined
        ? listEachDay(failed, { ...o, starts: o.starts })
        : [];
    return [
      {
        why: `A rule of ${title} cannot be used as it is (${shortenText(oddities.join("; "), 120)}): ${effect}.`,
        busy,
      },
    ];
  });
}

/** Whatever a rule says, an event takes place at the time of its start, unless the rule counts in hours. */
function listEachDay(
  failed: readonly string[],
  { span, zone, starts, length }: { span: Span; zone: Zone; starts: number; length: number },
): Span[] {
  if (failed.some((text) => /HOUR|MINUTE|SECOND/i.test(text)) || length >= DAY_MS)
    return [{ ...span, from: Math.max(starts, span.from) }];
  const time = toLocal(starts, zone) - toDay(toLocal(starts, zone));
  const spans: Span[] = [];
  const first = toDay(toLocal(Math.max(starts, span.from), zone)) - DAY_MS;
  for (let day = first; toInstant(day, zone) < span.to; day += DAY_MS) {
    const from = toInstant(day + time, zone);
    if (from >= starts) spans.push({ from, to: from + Math.max(length, 60_000) });
  }
  return spans;
}
