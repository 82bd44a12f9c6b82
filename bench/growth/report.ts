import type { Measure } from "../report/part-report.ts";
import type { Cost } from "./cost.ts";
import type { Growth } from "./subject.ts";

/** What the largest may cost by the smallest where the work is the same. */
const FLAT = 1.3;

/** Each request at the largest size beside the smallest; CPU and time by the clock. */
export function toMeasures({ subject, lines, memory }: Growth): Measure[] {
  const { title, things, sizes, fullFrom = {}, reasons = {} } = subject;
  const nameOf = (index: number) => `${(sizes.at(index) ?? 0).toLocaleString("en")} ${things}`;
  const measures = lines.flatMap(({ name, costs }) => {
    const first = Math.max(0, sizes.indexOf(fullFrom[name] ?? 0));
    const toMeasure = (unit: string, read: (cost: Cost) => number): Measure => ({
      what: `${title}, ${nameOf(-1)}: ${name}`,
      unit,
      samples: costs.at(-1)?.map(read) ?? [],
      peers: [{ name: nameOf(first), samples: costs[first]?.map(read) ?? [] }],
    });
    const cpu = toMeasure("ms CPU", ({ cpuMs }) => cpuMs);
    const target = { bound: "at most", limit: FLAT, ratioTo: nameOf(first) } as const;
    return [reasons[name] === undefined ? { ...cpu, targets: [target] } : cpu, toMeasure("ms", ({ ms }) => ms)];
  });
  const used = { what: `${title}, ${nameOf(-1)}: memory of the service afterwards`, unit: "MB" };
  const peers = [{ name: nameOf(0), samples: memory.slice(0, 1) }];
  return [...measures, { ...used, samples: memory.slice(-1), peers }];
}

/** Why some of it grows. */
export function toNotes({ subject: { title, reasons = {} } }: Growth): string[] {
  return Object.entries(reasons).map(([name, reason]) => `${title}, ${name}: may grow: ${reason}.`);
}
