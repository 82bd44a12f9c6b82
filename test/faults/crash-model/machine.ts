import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JournalRecord } from "../../../src/approvals/journal-record.ts";
import { readSegment } from "../../../src/approvals/journal-segment.ts";
import { type EffectService, startEffectService } from "./effect-service.ts";
import { Oracle } from "./oracle.ts";

/** What two processes share: a state folder, a service, a clock, a human and one file. */
export interface Machine {
  readonly folder: string;
  readonly stateDir: string;
  readonly service: EffectService;
  readonly oracle: Oracle;
  /** Milliseconds since the epoch. */
  readonly clock: { now: number };
  readonly filePath: string;
  /** Lines that were cut off by a crash. */
  readonly torn: { lines: number };
  writeFile(content: string): Promise<void>;
  /** What the journal on disk says now, of all processes; notes damage nobody did. */
  readJournal(): Promise<readonly JournalRecord[]>;
  close(): Promise<void>;
}

/** A new machine, with a service of its own. */
export async function startMachine(): Promise<Machine> {
  const folder = await mkdtemp(join(tmpdir(), "svc-model-"));
  const service = await startEffectService();
  const stateDir = join(folder, "state");
  const filePath = join(folder, "note.txt");
  const oracle = new Oracle();
  const torn = { lines: 0 };
  await writeFile(filePath, "first");
  return {
    folder,
    stateDir,
    service,
    oracle,
    clock: { now: Date.parse("2026-11-20T10:00:00Z") },
    filePath,
    torn,
    writeFile: (content) => writeFile(filePath, content),
    async readJournal() {
      const journal = join(stateDir, "journal");
      const names = await readdir(journal).catch(() => []);
      const segments = await Promise.all(names.map((name) => readSegment(join(journal, name))));
      const damaged = segments.reduce((sum, segment) => sum + (segment?.damagedLines ?? 0), 0);
      if (damaged > torn.lines) oracle.violations.push(`the journal has ${damaged} lines that cannot be read`);
      return segments.flatMap((segment) => [...(segment?.records.values() ?? [])]);
    },
    async close() {
      await service.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
