import { expect, it } from "vitest";
import { sayNotShown } from "../../../src/apps/port/not-shown.ts";

it("names what is left out once each, in one line, and says how many more there are", () => {
  expect(sayNotShown([])).toEqual({});
  const same = { where: "a\n.ics", why: "It\u202e cannot be read." };
  expect(sayNotShown([same, same])).toEqual({ not_shown: [{ where: "a .ics", why: "It cannot be read." }] });
  const all = Array.from({ length: 25 }, (_, i) => ({ where: `${i}.ics`, why: "x".repeat(1000) }));
  const { not_shown: named = [] } = sayNotShown(all);
  expect(named).toHaveLength(21);
  expect(named[0]).toEqual({ where: "0.ics", why: "x".repeat(300) });
  expect(named.at(-1)).toEqual({ where: "5 more", why: "Only the first 20 are named." });
});
