import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPostgres, startPostgres, type TestPostgres } from "../../test/suites/start-postgres.ts";
import type { PartReport } from "../report/part-report.ts";
import { readCount, reportProgress, runPart } from "../report/run-part.ts";
import { drawGrowth } from "./draw.ts";
import { measureNodes } from "./nodes.ts";
import { toMeasures, toNotes } from "./report.ts";
import { type Growth, measureGrowth, type Subject } from "./subject.ts";
import { approvalsSubject } from "./subjects/approvals.ts";
import { connectionsSubject } from "./subjects/connections.ts";
import { devicesSubject } from "./subjects/devices.ts";
import { flowsSubject } from "./subjects/flows.ts";
import { logSubject } from "./subjects/log.ts";
import { toolsSubject } from "./subjects/tools.ts";

/*
 * What requests cost as there is more of everything: `npm run bench -- growth --rounds 3`; `--quick` leaves out the
 * largest sizes, `--svg DIR` draws the pictures of docs/performance.md, `--only log` measures one subject.
 */

const rounds = readCount("--rounds", 3);
const isQuick = process.argv.includes("--quick");
const pictures = readText("--svg");
const only = readText("--only");

const folder = await mkdtemp(join(tmpdir(), "svc-bench-growth-"));
const isPostgresAsked = only === undefined || ["log-postgres", "nodes"].includes(only);
const postgres = isPostgresAsked && findPostgres() !== undefined ? await startPostgres() : undefined;
try {
  await runPart(() => measureAll(postgres));
} finally {
  await postgres?.stop();
  await rm(folder, { recursive: true, force: true });
}

async function measureAll(server: TestPostgres | undefined): Promise<PartReport> {
  const growths: Growth[] = [];
  for (const subject of listSubjects(server)) {
    if (only !== undefined && subject.name !== only) continue;
    const growth = await measureGrowth(subject, rounds);
    growths.push(growth);
    if (pictures !== undefined) await draw(pictures, growth);
  }
  const hasNodes = server !== undefined && (only === undefined || only === "nodes");
  const nodes = hasNodes ? await measureNodes(server, { rounds }) : [];
  const isMissing = isPostgresAsked && server === undefined;
  const missing = isMissing ? ["PostgreSQL is not installed, its rows are left out."] : [];
  return {
    title: "Growth",
    measures: [...growths.flatMap(toMeasures), ...nodes],
    notes: [...growths.flatMap(toNotes), ...missing],
  };
}

function listSubjects(server: TestPostgres | undefined): Subject[] {
  const cut = (sizes: number[]) => (isQuick ? sizes.slice(0, -1) : sizes);
  const executions = cut([1_000, 10_000, 100_000, 1_000_000]);
  const logs = [logSubject({ folder, sizes: executions })];
  if (server !== undefined) {
    logs.push(logSubject({ folder, sizes: executions, createDatabase: () => server.createDatabase() }));
  }
  return [
    ...logs,
    toolsSubject({ folder, sizes: cut([100, 1_000, 10_000, 100_000]) }),
    devicesSubject({ folder, sizes: cut([1, 10, 100, 1_000]) }),
    flowsSubject({ folder, sizes: cut([10, 100, 1_000, 10_000]) }),
    connectionsSubject({ folder, sizes: cut([1, 10, 100]) }),
    // One more is held by the bench itself; 500 is the limit.
    approvalsSubject({ folder, sizes: cut([1, 10, 100, 490]) }),
  ];
}

async function draw(into: string, growth: Growth): Promise<void> {
  await mkdir(into, { recursive: true });
  const file = join(into, `${growth.subject.name}.svg`);
  await writeFile(file, drawGrowth(growth));
  reportProgress(`drew ${file}`);
}

function readText(flag: string): string | undefined {
  const at = process.argv.indexOf(flag);
  return at === -1 ? undefined : process.argv[at + 1];
}
