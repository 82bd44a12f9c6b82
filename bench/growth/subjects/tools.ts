import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestService } from "../../../src/testing.ts";
import { call } from "../../../test/service/http-calls.ts";
import { runSample } from "../../processes/run-sample.ts";
import { startServer } from "../../processes/start-server.ts";
import { readCpuOf } from "../cost.ts";
import type { SessionSample } from "../session-sample.ts";
import type { Opened, Subject } from "../subject.ts";

/** More and more tools, 200 to an app: as many as a list shows. */
export function toolsSubject(o: { readonly folder: string; readonly sizes: readonly number[] }): Subject {
  return {
    name: "tools",
    title: "Tools",
    things: "tools",
    sizes: o.sizes,
    reasons: {
      "search of a rare word": "misspellings are looked for in a vocabulary that grows too",
      "search of a word that all have": "it ranks every tool",
      "start of the service": "every tool is indexed by its name",
      "plugin, cold": "it asks for the lists of all apps; a list shows 200 tools, and the plugin keeps 50,000",
      "plugin, warm": "it reads and checks its list, which is on the disk",
    },
    open: (size) => openTools(size, join(o.folder, `tools-${size}`)),
  };
}

async function openTools(size: number, dataDir: string): Promise<Opened> {
  const { apiKey, close } = await startTestService({ dataDir });
  await close();
  const script = join(import.meta.dirname, "../tool-server.ts");
  const start = () => startServer([script, dataDir, String(size)], "/health");
  let server = await start();
  const get = async (path: string) => {
    const reply = await call(`${server.url}${path}`, { key: apiKey });
    if (reply.status !== 200) throw new Error(`The service answered ${reply.status}: ${reply.text.slice(0, 300)}`);
  };
  const warmDir = await mkdtemp(join(tmpdir(), "svc-bench-warm-"));
  const session = (stateDir: string) =>
    runSample<SessionSample>(join(import.meta.dirname, "../session-sample.ts"), [server.url, apiKey, stateDir]);
  await session(warmDir);
  let asked = 0;
  /** Another one each time: answers to equal questions are kept. */
  const nextNumber = () => {
    asked += 1;
    return (asked * 37) % size;
  };
  return {
    pid: () => server.pid,
    memory: () => server.memory(),
    requests: {
      "list of tools": () => get("/api/tools"),
      "description of one": () => get(`/api/tools/app-0_action_${size >> 1}`.replace("app-0", appOf(size))),
      "search of a rare word": () => get(`/api/tools/search?query=${nextNumber()}`),
      "search of a word that all have": () => get(`/api/tools/search?query=fields%20${nextNumber()}`),
      "the same search again": () => get("/api/tools/search?query=fields"),
    },
    works: {
      async "start of the service"() {
        await server.stop();
        server = await start();
        const cost = { ms: server.startMs, cpuMs: readCpuOf(server.pid) };
        await get("/api/tools/search?query=fields");
        return cost;
      },
      async "plugin, cold"() {
        const stateDir = await mkdtemp(join(tmpdir(), "svc-bench-cold-"));
        const sample = await session(stateDir);
        await rm(stateDir, { recursive: true });
        return sample;
      },
      "plugin, warm": () => session(warmDir),
    },
    async close() {
      await server.stop();
      await rm(warmDir, { recursive: true });
    },
  };
}

function appOf(size: number): string {
  return `app-${Math.floor((size >> 1) / 200)}`;
}
