import { reportProgress } from "../report/run-part.ts";
import { takeTurns } from "../report/take-turns.ts";
import { type Cost, measureRequests } from "./cost.ts";

/** A service with so much of something. */
export interface Opened {
  /** The process that serves; another one after a restart. */
  pid(): number;
  /** Requests by their names, each sent many times in a row. */
  readonly requests: Readonly<Record<string, () => Promise<unknown>>>;
  /** Longer work by its name, done once in a round. */
  readonly works?: Readonly<Record<string, () => Promise<Cost>>>;
  /** Resident memory of the server, in MB. */
  memory(): Promise<number | undefined>;
  close(): Promise<void>;
}

/** Something that grows. */
export interface Subject {
  /** Of the file with its picture. */
  readonly name: string;
  readonly title: string;
  /** What there are so many of. */
  readonly things: string;
  readonly sizes: readonly number[];
  /** From which size a page is full, for requests that show less before: they are compared from there on. */
  readonly fullFrom?: Readonly<Record<string, number>>;
  /** Why a named request or work may grow. */
  readonly reasons?: Readonly<Record<string, string>>;
  open(size: number): Promise<Opened>;
}

/** Costs of one request or work, by size and round. */
interface Line {
  readonly name: string;
  readonly costs: readonly (readonly Cost[])[];
}

/** What was measured of a subject. */
export interface Growth {
  readonly subject: Subject;
  readonly lines: readonly Line[];
  /** By size, in MB. */
  readonly memory: readonly number[];
}

/** Requests of a kind in one turn. */
const COUNT = 40;

/** Measures a subject at all its sizes, which take turns. */
export async function measureGrowth(subject: Subject, rounds: number): Promise<Growth> {
  reportProgress(`${subject.title}: filling`);
  const opened: Opened[] = [];
  try {
    for (const size of subject.sizes) opened.push(await subject.open(size));
    reportProgress(`${subject.title}: measuring`);
    const samples = await takeTurns(opened, { rounds, warmUps: 1 }, measureOnce);
    const names = Object.keys(samples[0]?.[0] ?? {});
    const pick = (name: string) => samples.map((ofSize) => ofSize.flatMap((sample) => sample[name] ?? []));
    const memory: number[] = [];
    for (const one of opened) memory.push((await one.memory()) ?? Number.NaN);
    return { subject, lines: names.map((name) => ({ name, costs: pick(name) })), memory };
  } finally {
    for (const one of opened) await one.close();
  }
}

async function measureOnce({ pid, requests, works = {} }: Opened): Promise<Record<string, Cost>> {
  const costs: Record<string, Cost> = {};
  for (const [name, send] of Object.entries(requests)) {
    // The turn of another size may have pushed this one out of the caches of the machine.
    await send();
    costs[name] = await measureRequests(pid(), COUNT, send);
  }
  for (const [name, work] of Object.entries(works)) costs[name] = await work();
  return costs;
}
