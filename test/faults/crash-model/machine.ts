import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type JournalRecord, readJournalRecord } from "../../../src/plugin/calls/journal/journal-record.ts";
import { openStateFile } from "../../../src/plugin/calls/journal/state-file.ts";
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
  writeFile(content: string): Promise<void>;
  /** What the journal on disk says now, of all processes; notes what cannot be read. */
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
  await writeFile(filePath, "first");
  return {
    folder,
    stateDir,
    service,
    oracle,
    clock: { now: Date.parse("2026-11-20T10:00:00Z") },
    filePath,
    writeFile: (content) => writeFile(filePath, content),
    async readJournal() {
      const state = await openStateFile(stateDir);
      const rows = state?.prepare("SELECT record FROM calls").all() ?? [];
      state?.close();
      const records = rows.map(({ record }) => readJournalRecord(JSON.parse(String(record))));
      if (records.includes(undefined)) oracle.violations.push("the journal has a record that cannot be read");
      return records.filter((record) => record !== undefined);
    },
    async close() {
      await service.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
