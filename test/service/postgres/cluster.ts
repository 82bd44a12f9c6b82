import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createOwnerSessions } from "../../../src/service/auth/owner-sessions.ts";
import { createConnections } from "../../../src/service/connections/connections.ts";
import type { ServiceOptions } from "../../../src/service/service-options.ts";
import { findAccount, openStore, type Store } from "../../../src/service/store/open-store.ts";

import { decideAsOwner } from "../../../src/service/test-kit/decide-as-owner.ts";
import { findFreePort } from "../free-port.ts";
import { call, post, type Reply } from "../http-calls.ts";
import { startBalancer } from "./balancer.ts";
import { ledgerIntegration } from "./ledger-integration.ts";

const CHILD = fileURLToPath(new URL("./node-child.ts", import.meta.url));

/** One process of the service. */
interface ClusterNode {
  readonly url: string;
  readonly dataDir: string;
  readonly process: ChildProcess;
  /** As the machine's end would be. */
  kill(): Promise<void>;
}

/** Processes on one database, behind a balancer. */
export interface Cluster {
  /** Address of the balancer. */
  readonly url: string;
  readonly nodes: ClusterNode[];
  /** The store they share, seen from outside. */
  readonly store: Store;
  readonly apiKey: string;
  /** Lines of the ledger: the effects of writes, in the order they took place. */
  readLedger(): Promise<string[]>;
  /** File that `ledger_hang` makes when it has begun. */
  hangFile(text: string): string;
  /** A canonical execution of the ledger, by the balancer or one node. */
  run(action: string, text: string, o?: { key?: string; at?: string }): Promise<Reply>;
  /** Starts another process. */
  add(): Promise<ClusterNode>;
  /** Kills a process and starts one in its place, on its folder and its port of the balancer. */
  replace(node: ClusterNode): Promise<void>;
  /** A link that signs a browser in at the balancer. */
  signInUrl(): Promise<string>;
  /** Starts a pairing at one address and approves it at another. */
  approvePairing(start: string, approve: string): Promise<{ sessionToken: string; verifier: string }>;
  close(): Promise<void>;
}

/** Heartbeat of the nodes, in milliseconds: one that a busy machine holds up for two of them is taken for dead. */
const HEARTBEAT_MS = 1_000;
/** The text that all nodes encrypt with. */
export const CLUSTER_SECRET = "the same text of 32 letters for all";

/** Starts `size` processes at one moment on an empty database. */
export async function startCluster(size: number, o: { database: string } & Partial<ServiceOptions>): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), "svc-cluster-"));
  await mkdir(join(folder, "shared"));
  const balancer = await startBalancer();
  const options = {
    ...o,
    publicUrl: balancer.url,
    files: join(folder, "shared"),
    secretKey: CLUSTER_SECRET,
    heartbeatMs: HEARTBEAT_MS,
  };
  const nodes = await Promise.all(
    Array.from({ length: size }, (_, index) => startNode({ ...options, dataDir: join(folder, `node-${index}`) })),
  );
  balancer.ports.push(...nodes.map((node) => Number(new URL(node.url).port)));
  const store = await openStore(o.database);
  const ledger = join(folder, "ledger");
  await connectLedger(store, ledger);

  const signInUrl = async (at: string) => {
    const accountId = (await findAccount(store)) ?? "";
    return `${at}/sign-in?token=${await createOwnerSessions(store, Date.now).createLink(accountId)}`;
  };
  const approvePairing: Cluster["approvePairing"] = async (start, approve) => {
    const { json } = await post(`${start}/api/plugin/pair/start`);
    const pairUrl = `${approve}${new URL(json.pairUrl).pathname}`;
    await decideAsOwner({ signInUrl: await signInUrl(approve), pairUrl, decision: "approve" });
    return json;
  };
  const pair = async () => {
    const { sessionToken, verifier } = await approvePairing(balancer.url, balancer.url);
    const { json } = await post(`${balancer.url}/api/plugin/pair/sessions/${sessionToken}/exchange`, { verifier });
    return String(json.apiKey);
  };
  const apiKey = await pair();
  return {
    url: balancer.url,
    nodes,
    store,
    apiKey,
    readLedger: async () => (await readFile(ledger, "utf8").catch(() => "")).split("\n").filter((line) => line !== ""),
    hangFile: (text) => `${ledger}.${text}`,
    run: (action, text, { key, at = balancer.url } = {}) => runLedger({ at, apiKey, action, text, key }),
    approvePairing,
    async add() {
      const node = await startNode({ ...options, dataDir: join(folder, `node-${nodes.length}`) });
      nodes.push(node);
      return node;
    },
    async replace(node) {
      await node.kill();
      const port = Number(new URL(node.url).port);
      nodes[nodes.indexOf(node)] = await startNode({ ...options, dataDir: node.dataDir, port });
    },
    signInUrl: () => signInUrl(balancer.url),
    async close() {
      await Promise.all(nodes.map((node) => node.kill()));
      await store.destroy();
      await balancer.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function runLedger(o: { at: string; apiKey: string; action: string; text: string; key: string | undefined }) {
  const { action, text } = o;
  const idempotency = o.key === undefined ? {} : { idempotency_key: o.key };
  const body = { integration_id: "ledger", action_id: action, input: { text }, confirm: true, ...idempotency };
  return call(`${o.at}/api/executions`, {
    method: "POST",
    key: o.apiKey,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** Starts a node; again on another port when the one that was free a moment ago is not any more. */
async function startNode(options: ServiceOptions, tries = 3): Promise<ClusterNode> {
  const port = options.port ?? (await findFreePort());
  const child = spawn(process.execPath, [CHILD, JSON.stringify({ ...options, port })], {
    stdio: ["ignore", "pipe", tries > 1 ? "ignore" : "inherit"],
  });
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  };
  for await (const _line of createInterface({ input: child.stdout })) {
    return { url: `http://127.0.0.1:${port}`, dataDir: options.dataDir, process: child, kill };
  }
  if (tries > 1) return startNode(options, tries - 1);
  throw new Error("A node ended before it was ready.");
}

async function connectLedger(store: Store, file: string): Promise<void> {
  const accountId = (await findAccount(store)) ?? "";
  const seal = { seal: (_: unknown, settings: object) => settings, open: () => ({ settings: {}, unreadable: [] }) };
  const connections = createConnections({
    store,
    accountId,
    catalog: { integrations: [ledgerIntegration] },
    seal: seal as Parameters<typeof createConnections>[0]["seal"],
    now: Date.now,
  });
  await connections.add({ integration: "ledger", label: "Ledger", settings: { file } });
}
