import { beforeEach, describe, expect, test } from "vitest";
import { createHealth } from "../../../src/service/health/health.ts";
import { watchClock } from "../../../src/service/health/watch-clock.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOON = Date.parse("2026-11-23T12:00:00Z");

let wall: number;
let elapsed: number;
let log: string[];
beforeEach(() => {
  wall = NOON;
  elapsed = 5 * HOUR;
  log = [];
});

/** Time that passes on both clocks. */
function pass(ms: number): void {
  wall += ms;
  elapsed += ms;
}

function open(newest?: number) {
  const health = createHealth(({ level, message }) => log.push(`${level}: ${message}`));
  const clock = watchClock({ now: () => wall, elapsed: () => elapsed }, { newest, health });
  return {
    clock,
    look() {
      clock.check();
      return [clock.isBelieved(), health.list().map(({ message }) => message)] as const;
    },
  };
}

describe("at the start", () => {
  test.each([
    ["no record", undefined],
    ["a record of just now", NOON],
    ["one some minutes ahead, by another machine", NOON + 4 * MINUTE],
    ["three weeks without any", NOON - 21 * DAY],
  ])("%s is nothing", (_what, newest) => {
    expect(open(newest).look()).toEqual([true, []]);
    expect(log).toEqual([]);
  });

  test("a clock behind the newest record is in doubt until it is set right", () => {
    wall = Date.parse("1970-01-01T00:01:00Z");
    const { look } = open(NOON);
    const said =
      "It is 1970-01-01T00:01:00Z by the clock of this machine, and the newest record is of 2026-11-23T12:00:00Z.";
    expect(look()).toEqual([false, [said]]);
    pass(10 * MINUTE);
    expect(look()[0]).toBe(false);
    // A time server answers, long after the newest record.
    wall = NOON + 2 * DAY;
    expect(look()).toEqual([true, []]);
    expect(log).toEqual([
      expect.stringMatching(/^error: It is 1970.*Set it right\./),
      expect.stringMatching(/^info: This is over/),
    ]);
  });

  test("a clock 100 days ahead is in doubt, and believed when it has run evenly for an hour", () => {
    const { look } = open(NOON - 100 * DAY);
    expect(look()).toEqual([false, [expect.stringContaining("unless the service was off for that long")]]);
    pass(59 * MINUTE);
    expect(look()[0]).toBe(false);
    pass(MINUTE);
    expect(look()).toEqual([true, []]);
    expect(log).toHaveLength(2);
  });
});

describe("while it runs", () => {
  test.each([
    ["forward", 100 * DAY, "set forward by 100 days, to 2027-03-03T12:00:00Z."],
    ["back", -3 * HOUR, "set back by 3 hours, to 2026-11-23T09:00:00Z."],
    ["back by minutes", -6 * MINUTE, "set back by 6 minutes, to 2026-11-23T11:54:00Z."],
  ])("a jump %s is told once, and over when it is taken back", (_where, jump, said) => {
    const { look } = open(NOON);
    wall += jump;
    for (let round = 0; round < 3; round += 1) {
      expect(look()).toEqual([false, [`The clock of this machine was ${said}`]]);
    }
    wall -= jump;
    expect(look()).toEqual([true, []]);
    expect(log.map((line) => line.split(":")[0])).toEqual(["error", "info"]);
  });

  test("a jump that stays is believed after an hour, and the next one is seen again", () => {
    const { look } = open(NOON);
    wall += 3 * DAY;
    expect(look()[0]).toBe(false);
    pass(HOUR);
    expect(look()).toEqual([true, []]);
    wall -= 3 * DAY;
    expect(look()[0]).toBe(false);
  });

  test("a clock that keeps jumping is not believed", () => {
    const { look } = open(NOON);
    for (let round = 0; round < 10; round += 1) {
      pass(50 * MINUTE);
      wall += DAY;
      expect(look()[0]).toBe(false);
    }
  });

  test("small steps and a machine that slept are nothing", () => {
    const { look } = open(NOON);
    for (let round = 0; round < 20; round += 1) {
      pass(HOUR);
      wall += round % 2 === 0 ? 4 * MINUTE : -4 * MINUTE;
      expect(look()).toEqual([true, []]);
    }
    pass(9 * DAY);
    expect(look()).toEqual([true, []]);
    expect(log).toEqual([]);
  });
});
