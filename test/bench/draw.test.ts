import { expect, test } from "vitest";
import { drawGrowth } from "../../bench/growth/draw.ts";

const cost = (cpuMs: number) => [{ ms: cpuMs, cpuMs }];
const open = () => Promise.reject(new Error("Nothing is measured here."));
const subject = { name: "things", title: "Things", things: "things", sizes: [1, 10, 100], open };
const flat = Array.from({ length: 8 }, (_, index) => ({
  name: `request ${index}`,
  costs: [cost(1), cost(1), cost(1 + index / 100)],
}));
const lines = [...flat, { name: "one that grows", costs: [cost(0.01), cost(1), cost(100)] }];

test("a picture needs nothing else, says in words what it shows, and its labels do not cover each other", () => {
  const svg = drawGrowth({ subject, lines, memory: [] });
  expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" [^>]+ aria-labelledby="t d">/);
  expect(svg).toContain('<title id="t">Things: CPU of a request by the number of things</title>');
  expect(svg).toContain("one that grows: 0.01, 1, 100.");
  expect(svg.match(/https?:/g)).toHaveLength(1);
  expect(svg).not.toMatch(/NaN|undefined|Infinity|url\(|href/);
  const labels = [...svg.matchAll(/<text x="452" y="([\d.]+)">([^<]+)</g)];
  const places = labels.map(([, y]) => Number(y)).sort((a, b) => a - b);
  expect(places).toHaveLength(lines.length);
  for (const [index, place] of places.entries()) {
    expect(place - (places[index - 1] ?? 0)).toBeGreaterThanOrEqual(13);
  }
  expect(places.at(-1)).toBeLessThan(300);
});
