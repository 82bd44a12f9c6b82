import { join } from "node:path";
import { createSignInLink } from "../../src/service/create-sign-in-link.ts";
import { openStore, type Store } from "../../src/service/store/open-store.ts";
import { startTestService, type TestService } from "../../src/testing.ts";
import { openBrowser } from "../../test/service/http/pages/browser.ts";
import { call, type Reply } from "../../test/service/http-calls.ts";
import { findBuiltPackage } from "../processes/built-package.ts";
import { type Server, startServer } from "../processes/start-server.ts";
import { type Cost, readCpuOf } from "./cost.ts";

/** A service of its own process, whose store was filled before it started. */
export interface Place {
  /** A key without limits. */
  readonly apiKey: string;
  pid(): number;
  memory(): Promise<number | undefined>;
  get(path: string): Promise<Reply>;
  post(path: string, body: unknown, o?: { key?: string; status?: number }): Promise<Reply>;
  /** Opens a page of the owner. */
  look(path: string): Promise<Reply>;
  /** Stops the service and starts it again. */
  restart(): Promise<Cost>;
  close(): Promise<void>;
}

/** What a place is made of. */
export interface PlaceOptions {
  readonly dataDir: string;
  /** Address of a PostgreSQL database; without one, a file in the folder. */
  readonly database?: string | undefined;
  /** Makes what is copied by SQL afterwards, as a caller does. */
  prepare?(service: TestService): Promise<void>;
  /** Fills the store, in one transaction. */
  fill(transaction: Store): Promise<void>;
}

/** Makes a data folder, fills its store and serves it. */
export async function openPlace(o: PlaceOptions): Promise<Place> {
  const { dataDir } = o;
  const database = o.database === undefined ? {} : { database: o.database };
  const first = await startTestService({ dataDir, ...database });
  const { apiKey } = first;
  await o.prepare?.(first);
  await first.close();
  const store = await openStore(o.database ?? join(dataDir, "svc.db"));
  await store.transaction().execute((transaction) => o.fill(transaction));
  await store.destroy();
  const flags = Object.entries({ data: dataDir, ...database }).flatMap(([name, value]) => [`--${name}`, value]);
  const bin = join(await findBuiltPackage(), "bin.js");
  const start = () => startServer([bin, "serve", "--port", "0", ...flags], "/health");
  let server: Server = await start();
  const browser = openBrowser();
  await browser.open(await createSignInLink({ dataDir, ...database }));
  const headers = { "content-type": "application/json" };
  return {
    apiKey,
    pid: () => server.pid,
    memory: () => server.memory(),
    get: (path) => check(call(`${server.url}${path}`, { key: apiKey }), 200),
    post: (path, body, { key = apiKey, status = 200 } = {}) =>
      check(call(`${server.url}${path}`, { method: "POST", key, headers, body: JSON.stringify(body) }), status),
    look: (path) => check(browser.open(`${server.url}${path}`), 200),
    async restart() {
      await server.stop();
      server = await start();
      return { ms: server.startMs, cpuMs: readCpuOf(server.pid) };
    },
    close: () => server.stop(),
  };
}

async function check(answer: Promise<Reply>, status: number): Promise<Reply> {
  const reply = await answer;
  if (reply.status === status) return reply;
  throw new Error(`The service answered ${reply.status}: ${reply.text.slice(0, 300)}`);
}
