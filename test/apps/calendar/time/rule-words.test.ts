import { expect, it } from "vitest";
import { parseRule } from "../../../../src/apps/calendar/time/recurrence-rule.ts";
import { sayRule } from "../../../../src/apps/calendar/time/rule-words.ts";
import { findZone, UTC } from "../../../../src/shared/base/zones.ts";

const BERLIN = findZone("Europe/Berlin") ?? UTC;
/** A Friday. */
const START = { at: Date.UTC(2026, 10, 27, 9), isDay: false, zone: BERLIN };

it.each([
  ["FREQ=DAILY", "every day, without end"],
  ["FREQ=DAILY;INTERVAL=3;COUNT=6", "every 3 days, 6 times"],
  ["FREQ=DAILY;BYDAY=SA,SU;BYMONTH=7", "every day, only on Saturday and Sunday, in July, without end"],
  ["FREQ=WEEKLY", "every Friday, without end"],
  ["FREQ=WEEKLY;BYDAY=MO,WE,FR;COUNT=1", "every Monday, Wednesday and Friday, once"],
  ["FREQ=WEEKLY;INTERVAL=2;BYDAY=TU", "every 2 weeks on Tuesday, without end"],
  ["FREQ=WEEKLY;UNTIL=20270331", "every Friday, until 31 March 2027"],
  // An hour before midnight in UTC is the next day in Berlin.
  ["FREQ=WEEKLY;UNTIL=20270330T233000Z", "every Friday, until 31 March 2027"],
  ["FREQ=MONTHLY", "every month on day 27, without end"],
  ["FREQ=MONTHLY;BYMONTHDAY=1,-1", "every month on the last day and day 1, without end"],
  ["FREQ=MONTHLY;BYMONTHDAY=-3", "every month on day 3 from the end, without end"],
  ["FREQ=MONTHLY;BYDAY=-1FR,2TU", "every month on the last Friday and the second Tuesday, without end"],
  ["FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", "every month on day 13, if it is Friday, without end"],
  ["FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=-1", "every month on Monday and Tuesday (BYSETPOS=-1), without end"],
  ["FREQ=YEARLY", "every year on 27 November, without end"],
  ["FREQ=YEARLY;BYMONTH=5;BYDAY=2SU", "every year on the second Sunday of May, without end"],
  ["FREQ=YEARLY;BYMONTH=3,9", "every year on 27 March and 27 September, without end"],
  ["FREQ=HOURLY;INTERVAL=4", "every 4 hours, without end"],
])("says %s as %s", (text, words) => {
  expect(sayRule(parseRule(text).rule, START)).toBe(words);
});
