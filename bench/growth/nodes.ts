import { type Cluster, startCluster } from "../../test/service/postgres/cluster.ts";
import type { TestPostgres } from "../../test/suites/start-postgres.ts";
import type { Measure } from "../report/part-report.ts";
import { reportProgress } from "../report/run-part.ts";
import { takeTurns } from "../report/take-turns.ts";
import { type Load, runLoad } from "../service/load.ts";
import { readCpuOf } from "./cost.ts";

const SIZES = [1, 2, 3] as const;
/** Connections altogether, however many nodes there are. */
const CONNECTIONS = 12;
const SECONDS = 1;

type Request = Pick<Load, "method" | "requests">;

const write = {
  integration_id: "notes",
  action_id: "create_page",
  input: { title: "Bench", body: "b" },
  confirm: true,
};
const REQUESTS: Readonly<Record<string, Request>> = {
  "list of tools": { method: "GET", requests: [{ path: "/api/tools" }] },
  "executed reads": {
    method: "POST",
    requests: [{ path: "/api/tools/drive_list_files/execute", body: '{"arguments":{}}' }],
  },
  "approved writes": { method: "POST", requests: [{ path: "/api/executions", body: JSON.stringify(write) }] },
};

interface Sample {
  readonly perSecond: number;
  /** Of all nodes, for one request. */
  readonly cpuMs: number;
}

/** Requests a second of one, two and three nodes on one PostgreSQL; callers turn to the nodes in turn. */
export async function measureNodes(postgres: TestPostgres, { rounds }: { rounds: number }): Promise<Measure[]> {
  reportProgress("Nodes: starting");
  const clusters: Cluster[] = [];
  try {
    for (const size of SIZES) clusters.push(await startCluster(size, { database: await postgres.createDatabase() }));
    const measures: Measure[] = [];
    for (const [name, request] of Object.entries(REQUESTS)) {
      reportProgress(`Nodes: ${name}`);
      const samples = await takeTurns(clusters, { rounds, warmUps: 1 }, (cluster) => load(cluster, request));
      measures.push(...toMeasures(name, samples));
    }
    return measures;
  } finally {
    for (const cluster of clusters) await cluster.close();
  }
}

async function load({ nodes, apiKey }: Cluster, request: Request): Promise<Sample> {
  const headers = { "content-type": "application/json", "x-svc-api-key": apiKey };
  const cpu = () => nodes.reduce((sum, { process }) => sum + readCpuOf(process.pid ?? 0), 0);
  const before = cpu();
  const each = nodes.map(({ url }) =>
    runLoad({ ...request, origin: url, headers }, CONNECTIONS / nodes.length, SECONDS),
  );
  const perSecond = (await Promise.all(each)).reduce((sum, one) => sum + one.perSecond, 0);
  return { perSecond, cpuMs: (cpu() - before) / (perSecond * SECONDS) };
}

function toMeasures(name: string, [one = [], ...more]: readonly (readonly Sample[])[]): Measure[] {
  return more.flatMap((samples, index) => {
    const toMeasure = (unit: string, read: (sample: Sample) => number): Measure => ({
      what: `PostgreSQL, ${index + 2} nodes: ${name}`,
      unit,
      samples: samples.map(read),
      peers: [{ name: "1 node", samples: one.map(read) }],
    });
    return [
      toMeasure("requests/s", ({ perSecond }) => perSecond),
      toMeasure("ms CPU of all nodes for each", ({ cpuMs }) => cpuMs),
    ];
  });
}
