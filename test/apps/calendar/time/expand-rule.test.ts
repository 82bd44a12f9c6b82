import { describe, expect, it } from "vitest";
import { expandRule } from "../../../../src/apps/calendar/time/expand-rule.ts";
import { findEnd, parseRule } from "../../../../src/apps/calendar/time/recurrence-rule.ts";
import { findZone, toLocal } from "../../../../src/shared/base/zones.ts";

const START = "1997-09-02T09:00";
const read = (text: string) => Date.parse(`${text.length === 10 ? `${text}T00:00` : text}Z`);
const write = (local: number) => new Date(local).toISOString().slice(0, 16);

interface Wanted {
  readonly start?: string;
  readonly from?: string;
  readonly to?: string;
  readonly steps?: number;
}

function expand(text: string, { start = START, from = start, to = "2040-01-01", steps = 50_000 }: Wanted = {}) {
  const { rule } = parseRule(text);
  const newYork = findZone("America/New_York");
  if (newYork === undefined) throw new Error("no zone");
  const end = findEnd(rule, (instant) => toLocal(instant, newYork));
  return expandRule(rule, read(start), { from: read(from), to: read(to), end, budget: { steps } }).map(write);
}

/** Days of a year such as `9/2-4,8` as the standard prints them, all at nine. */
function days(...years: (readonly [year: number, months: string])[]): string[] {
  return years.flatMap(([year, months]) =>
    months.split(" ").flatMap((month) => {
      const [name = "", list = ""] = month.split("/");
      return list.split(",").flatMap((span) => {
        const [first = 0, last = first] = span.split("-").map(Number);
        return Array.from(
          { length: last - first + 1 },
          (_, i) => `${year}-${name.padStart(2, "0")}-${String(first + i).padStart(2, "0")}T09:00`,
        );
      });
    }),
  );
}

/** The examples of RFC 5545, section 3.8.5.3, with what it says they give; endless ones up to a day. */
const EXAMPLES: [title: string, rule: string, expected: string[], wanted?: Wanted][] = [
  ["daily for 10 occurrences", "FREQ=DAILY;COUNT=10", days([1997, "9/2-11"])],
  [
    "daily until December 24, 1997",
    "FREQ=DAILY;UNTIL=19971224T000000Z",
    days([1997, "9/2-30 10/1-31 11/1-30 12/1-23"]),
  ],
  ["every other day", "FREQ=DAILY;INTERVAL=2", days([1997, "9/2,4,6,8,10,12"]), { to: "1997-09-13" }],
  ["every 10 days, 5 occurrences", "FREQ=DAILY;INTERVAL=10;COUNT=5", days([1997, "9/2,12,22 10/2,12"])],
  [
    "every day in January for three years",
    "FREQ=YEARLY;UNTIL=20000131T140000Z;BYMONTH=1;BYDAY=SU,MO,TU,WE,TH,FR,SA",
    days([1998, "1/1-31"], [1999, "1/1-31"], [2000, "1/1-31"]),
    { start: "1998-01-01T09:00" },
  ],
  [
    "every day in January, as a daily rule",
    "FREQ=DAILY;UNTIL=20000131T140000Z;BYMONTH=1",
    days([1998, "1/1-31"], [1999, "1/1-31"], [2000, "1/1-31"]),
    { start: "1998-01-01T09:00" },
  ],
  ["weekly for 10 occurrences", "FREQ=WEEKLY;COUNT=10", days([1997, "9/2,9,16,23,30 10/7,14,21,28 11/4"])],
  [
    "every other week, forever",
    "FREQ=WEEKLY;INTERVAL=2;WKST=SU",
    days([1997, "9/2,16,30 10/14,28 11/11,25 12/9,23"], [1998, "1/6,20 2/3,17"]),
    { to: "1998-02-28" },
  ],
  [
    "weekly on Tuesday and Thursday for five weeks",
    "FREQ=WEEKLY;UNTIL=19971007T000000Z;WKST=SU;BYDAY=TU,TH",
    days([1997, "9/2,4,9,11,16,18,23,25,30 10/2"]),
  ],
  [
    "every other week on Monday, Wednesday and Friday until December 24",
    "FREQ=WEEKLY;INTERVAL=2;UNTIL=19971224T000000Z;WKST=SU;BYDAY=MO,WE,FR",
    days([1997, "9/1,3,5,15,17,19,29 10/1,3,13,15,17,27,29,31 11/10,12,14,24,26,28 12/8,10,12,22"]),
    { start: "1997-09-01T09:00" },
  ],
  [
    "every other week on Tuesday and Thursday, 8 occurrences",
    "FREQ=WEEKLY;INTERVAL=2;COUNT=8;WKST=SU;BYDAY=TU,TH",
    days([1997, "9/2,4,16,18,30 10/2,14,16"]),
  ],
  [
    "monthly on the first Friday, 10 occurrences",
    "FREQ=MONTHLY;COUNT=10;BYDAY=1FR",
    days([1997, "9/5 10/3 11/7 12/5"], [1998, "1/2 2/6 3/6 4/3 5/1 6/5"]),
    { start: "1997-09-05T09:00" },
  ],
  [
    "monthly on the first Friday until December 24",
    "FREQ=MONTHLY;UNTIL=19971224T000000Z;BYDAY=1FR",
    days([1997, "9/5 10/3 11/7 12/5"]),
    { start: "1997-09-05T09:00" },
  ],
  [
    "every other month on the first and last Sunday",
    "FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU",
    days([1997, "9/7,28 11/2,30"], [1998, "1/4,25 3/1,29 5/3,31"]),
    { start: "1997-09-07T09:00" },
  ],
  [
    "monthly on the second-to-last Monday",
    "FREQ=MONTHLY;COUNT=6;BYDAY=-2MO",
    days([1997, "9/22 10/20 11/17 12/22"], [1998, "1/19 2/16"]),
    { start: "1997-09-22T09:00" },
  ],
  [
    "monthly on the third-to-the-last day",
    "FREQ=MONTHLY;BYMONTHDAY=-3",
    days([1997, "9/28 10/29 11/28 12/29"], [1998, "1/29 2/26"]),
    { start: "1997-09-28T09:00", to: "1998-03-01" },
  ],
  [
    "monthly on the 2nd and 15th",
    "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=2,15",
    days([1997, "9/2,15 10/2,15 11/2,15 12/2,15"], [1998, "1/2,15"]),
  ],
  [
    "monthly on the first and last day",
    "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=1,-1",
    days([1997, "9/30 10/1,31 11/1,30 12/1,31"], [1998, "1/1,31 2/1"]),
    { start: "1997-09-30T09:00" },
  ],
  [
    "every 18 months on the 10th to the 15th",
    "FREQ=MONTHLY;INTERVAL=18;COUNT=10;BYMONTHDAY=10,11,12,13,14,15",
    days([1997, "9/10-15"], [1999, "3/10-13"]),
    { start: "1997-09-10T09:00" },
  ],
  [
    "every Tuesday, every other month",
    "FREQ=MONTHLY;INTERVAL=2;BYDAY=TU",
    days([1997, "9/2,9,16,23,30 11/4,11,18,25"], [1998, "1/6,13,20,27 3/3,10,17,24,31"]),
    { to: "1998-04-01" },
  ],
  [
    "yearly in June and July",
    "FREQ=YEARLY;COUNT=10;BYMONTH=6,7",
    days([1997, "6/10 7/10"], [1998, "6/10 7/10"], [1999, "6/10 7/10"], [2000, "6/10 7/10"], [2001, "6/10 7/10"]),
    { start: "1997-06-10T09:00" },
  ],
  [
    "every other year in January, February and March",
    "FREQ=YEARLY;INTERVAL=2;COUNT=10;BYMONTH=1,2,3",
    days([1997, "3/10"], [1999, "1/10 2/10 3/10"], [2001, "1/10 2/10 3/10"], [2003, "1/10 2/10 3/10"]),
    { start: "1997-03-10T09:00" },
  ],
  [
    "every third year on the 1st, 100th and 200th day",
    "FREQ=YEARLY;INTERVAL=3;COUNT=10;BYYEARDAY=1,100,200",
    days([1997, "1/1 4/10 7/19"], [2000, "1/1 4/9 7/18"], [2003, "1/1 4/10 7/19"], [2006, "1/1"]),
    { start: "1997-01-01T09:00" },
  ],
  [
    "every 20th Monday of the year",
    "FREQ=YEARLY;BYDAY=20MO",
    days([1997, "5/19"], [1998, "5/18"], [1999, "5/17"]),
    { start: "1997-05-19T09:00", to: "1999-12-31" },
  ],
  [
    "Monday of week number 20",
    "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO",
    days([1997, "5/12"], [1998, "5/11"], [1999, "5/17"]),
    { start: "1997-05-12T09:00", to: "1999-12-31" },
  ],
  [
    "every Thursday in March",
    "FREQ=YEARLY;BYMONTH=3;BYDAY=TH",
    days([1997, "3/13,20,27"], [1998, "3/5,12,19,26"], [1999, "3/4,11,18,25"]),
    { start: "1997-03-13T09:00", to: "1999-12-31" },
  ],
  [
    "every Thursday in June, July and August",
    "FREQ=YEARLY;BYDAY=TH;BYMONTH=6,7,8",
    days([1997, "6/5,12,19,26 7/3,10,17,24,31 8/7,14,21,28"]),
    { start: "1997-06-05T09:00", to: "1997-12-31" },
  ],
  [
    "every Friday the 13th",
    "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13",
    days([1998, "2/13 3/13 11/13"], [1999, "8/13"], [2000, "10/13"]),
    { to: "2000-12-31" },
  ],
  [
    "the first Saturday after the first Sunday of the month",
    "FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13",
    days([1997, "9/13 10/11 11/8 12/13"], [1998, "1/10 2/7 3/7 4/11 5/9 6/13"]),
    { start: "1997-09-13T09:00", to: "1998-07-01" },
  ],
  [
    "every four years, the first Tuesday after a Monday in November",
    "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8",
    days([1996, "11/5"], [2000, "11/7"], [2004, "11/2"]),
    { start: "1996-11-05T09:00", to: "2005-01-01" },
  ],
  [
    "the third Tuesday, Wednesday or Thursday of the month",
    "FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3",
    days([1997, "9/4 10/7 11/6"]),
    { start: "1997-09-04T09:00" },
  ],
  [
    "the second-to-last weekday of the month",
    "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2",
    days([1997, "9/29 10/30 11/27 12/30"], [1998, "1/29 2/26 3/30"]),
    { start: "1997-09-29T09:00", to: "1998-03-31" },
  ],
  [
    "every 3 hours from 9:00 to 17:00 on a day",
    "FREQ=HOURLY;INTERVAL=3;UNTIL=19970902T210000Z",
    ["1997-09-02T09:00", "1997-09-02T12:00", "1997-09-02T15:00"],
  ],
  [
    "every 15 minutes for 6 occurrences",
    "FREQ=MINUTELY;INTERVAL=15;COUNT=6",
    ["09:00", "09:15", "09:30", "09:45", "10:00", "10:15"].map((time) => `1997-09-02T${time}`),
  ],
  [
    "every hour and a half for 4 occurrences",
    "FREQ=MINUTELY;INTERVAL=90;COUNT=4",
    ["09:00", "10:30", "12:00", "13:30"].map((time) => `1997-09-02T${time}`),
  ],
  [
    "with weeks that begin on Monday",
    "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO",
    days([1997, "8/5,10,19,24"]),
    { start: "1997-08-05T09:00" },
  ],
  [
    "with weeks that begin on Sunday",
    "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU",
    days([1997, "8/5,17,19,31"]),
    { start: "1997-08-05T09:00" },
  ],
  [
    "skipping days that do not exist",
    "FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5",
    days([2007, "1/15,30 2/15 3/15,30"]),
    { start: "2007-01-15T09:00" },
  ],
];

describe("the examples of RFC 5545", () => {
  it.each(EXAMPLES)("%s", (_, rule, expected, wanted) => {
    expect(expand(rule, wanted)).toEqual(expected);
  });

  it("every 20 minutes from 9:00 to 16:40, written in two ways", () => {
    const times = ["00", "20", "40"].flatMap((minute) =>
      Array.from({ length: 8 }, (_, i) => `${String(9 + i).padStart(2, "0")}:${minute}`),
    );
    const expected = ["02", "03"].flatMap((day) => times.toSorted().map((time) => `1997-09-${day}T${time}`));
    const to = "1997-09-03T23:59";
    expect(expand("FREQ=DAILY;BYHOUR=9,10,11,12,13,14,15,16;BYMINUTE=0,20,40", { to })).toEqual(expected);
    expect(expand("FREQ=MINUTELY;INTERVAL=20;BYHOUR=9,10,11,12,13,14,15,16", { to })).toEqual(expected);
  });
});

describe("a span far from the start", () => {
  it.each([
    ["FREQ=DAILY;INTERVAL=3", "2026-11-26T09:00"],
    ["FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE", "2026-11-23T09:00"],
    ["FREQ=MONTHLY;INTERVAL=5;BYDAY=-1FR", "2027-01-29T09:00"],
    ["FREQ=HOURLY;INTERVAL=7", "2026-11-20T05:00"],
  ])("%s is what it is when everything before is made, too", (rule) => {
    const span = { start: "2025-09-02T09:00", from: "2026-11-20", to: "2027-03-01" };
    const all = expand(rule, { start: span.start, to: span.to }).filter((at) => at >= span.from);
    expect(all.length).toBeGreaterThan(0);
    expect(expand(rule, { ...span, steps: 5_000 })).toEqual(all);
  });

  it("counts from the start where there is a COUNT", () => {
    expect(expand("FREQ=DAILY;COUNT=5", { from: "1997-09-05" })).toEqual(days([1997, "9/5-6"]));
    expect(expand("FREQ=DAILY;COUNT=5", { from: "2026-01-01" })).toEqual([]);
  });
});

describe("rules of a stranger", () => {
  it.each([
    "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=HOURLY;BYMONTHDAY=31;BYMONTH=4",
    "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=YEARLY;BYDAY=1MO;BYMONTH=4;BYMONTHDAY=15;BYSETPOS=366",
    "FREQ=YEARLY;INTERVAL=999999999;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=6",
  ])("%s never comes, and ends", (rule) => {
    expect(expand(rule)).toEqual([]);
  });

  it("spends no more than it may", () => {
    expect(expand("FREQ=SECONDLY", { steps: 1_000 })).toHaveLength(1_000);
    const second = Array.from({ length: 60 }, (_, i) => i).join(",");
    const hours = Array.from({ length: 24 }, (_, i) => i).join(",");
    const every = `FREQ=YEARLY;BYDAY=MO,TU;BYHOUR=${hours};BYMINUTE=${second};BYSECOND=${second}`;
    expect(expand(every, { steps: 100 }).length).toBeLessThan(150_000);
  });

  it.each([
    ["", /FREQ/],
    ["FREQ=DAILY;COUNT", /NAME=VALUE/],
    ["FREQ=DAILY;COUNT=3;", /empty/],
    ["RSCALE=HEBREW;FREQ=YEARLY", /RSCALE/],
    ["FREQ=DAILY;X-PART=1", /X-PART/],
    ["COUNT=3", /FREQ/],
    ["FREQ=FORTNIGHTLY", /FREQ/],
    ["FREQ=DAILY;COUNT=0", /COUNT/],
    ["FREQ=DAILY;INTERVAL=-1", /INTERVAL/],
    ["FREQ=DAILY;COUNT=2;UNTIL=20261231", /exclude/],
    ["FREQ=DAILY;UNTIL=tomorrow", /UNTIL/],
    ["FREQ=DAILY;BYHOUR=24", /BYHOUR/],
    ["FREQ=WEEKLY;BYMONTHDAY=1", /BYMONTHDAY/],
    ["FREQ=MONTHLY;BYWEEKNO=1", /BYWEEKNO/],
    ["FREQ=DAILY;BYYEARDAY=1", /BYYEARDAY/],
    ["FREQ=WEEKLY;BYDAY=XX", /weekday/],
    ["FREQ=DAILY;FREQ=DAILY", /twice/],
  ])("%j is refused with a reason, or read with one", (rule, reason) => {
    const read = () =>
      parseRule(rule).oddities.forEach((oddity) => {
        throw new Error(oddity);
      });
    expect(read).toThrow(reason);
  });
});
