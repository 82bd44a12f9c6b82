import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createConnections } from "../../../../../src/service/connections/connections.ts";
import { createSecretBox, readSecretKey, type SecretBox } from "../../../../../src/service/secrets/secret-box.ts";
import { findAccount } from "../../../../../src/service/store/open-store.ts";
import { createRandom } from "../../../../faults/kit/create-random.ts";
import { choose } from "../../../../faults/kit/fault-form.ts";
import { startPostgres, type TestPostgres } from "../../../../suites/start-postgres.ts";
import { execute } from "../../../http-calls.ts";
import { CLUSTER_SECRET, type Cluster, startCluster } from "../../../postgres/cluster.ts";
import { createLetterIntegration } from "../kit/letter-integration.ts";
import { endTokens, storeSignIn } from "../kit/lock-integration.ts";
import { startTokenServer, type TokenServer } from "../kit/start-token-server.ts";

/** Three processes of the service that share one sign-in, whose refresh tokens are good for one use. */

const SECOND = 1_000;
let postgres: TestPostgres;
let provider: TokenServer;
let api: Server;
let cluster: Cluster;
let box: SecretBox;
let connectionId: string;
/** When each access token was given out, and those that the API was called with. */
const issued = new Map<string, number>();
const used = new Set<string>();

beforeAll(async () => {
  postgres = await startPostgres();
  provider = await startTokenServer((token) => issued.set(token, Date.now()));
  api = createServer((request, response) => {
    const token = request.headers.authorization?.replace("Bearer ", "") ?? "";
    const age = Date.now() - (issued.get(token) ?? 0);
    used.add(token);
    response.writeHead(age < (provider.lifetime ?? 0) * SECOND ? 200 : 401, { "content-type": "application/json" });
    response.end("[]");
  }).listen(0, "127.0.0.1");
  await once(api, "listening");
  process.env.LETTERS = `http://127.0.0.1:${(api.address() as AddressInfo).port}/`;
  cluster = await startCluster(3, { database: await postgres.createDatabase() });
  box = createSecretBox(await readSecretKey({ dataDir: "", secretKey: CLUSTER_SECRET, isInUse: async () => true }));
  const settings = { box: "main", ...(await signIn()) };
  connectionId = (await (await connections()).add({ integration: "letter", label: "Letters", settings })).id;
}, 120_000);

afterAll(async () => {
  delete process.env.LETTERS;
  await cluster?.close();
  api?.close();
  await provider?.close();
  await postgres?.stop();
});

beforeEach(() => {
  issued.clear();
  used.clear();
  provider.seen.length = 0;
});

/** The owner signs in: the next call has to renew the token. */
async function signIn(): Promise<{ signInId: string }> {
  const tokens = { accessToken: "access-0", refreshToken: provider.refreshToken(), renewAt: 0, expiresAt: 0, data: {} };
  const place = { store: cluster.store, box, tokenUrl: provider.url };
  return storeSignIn(place, { integration: "letter", tokens });
}

async function connections() {
  const seal = {
    seal: (_: unknown, settings: object) => settings,
    open: (_: unknown, settings: object) => ({ settings, unreadable: [] }),
  };
  return createConnections({
    store: cluster.store,
    accountId: (await findAccount(cluster.store)) ?? "",
    catalog: { integrations: [createLetterIntegration({ apiUrl: "", tokenUrl: "" })] },
    seal: seal as Parameters<typeof createConnections>[0]["seal"],
    now: Date.now,
  });
}

const list = (url: string) => execute({ url, apiKey: cluster.apiKey }, "letter_list", { arguments: {}, connectionId });
const listRefreshTokens = () => provider.seen.map(({ params }) => params.refresh_token);

test("a token of five seconds, and 1,000 calls by three nodes: one renewal for each period, and no call fails", async () => {
  provider.lifetime = 5;
  const statuses: number[] = [];
  const nodes = cluster.nodes.map(({ url }) => url);
  let begun = 0;
  const work = async () => {
    while (begun < 1_000 || issued.size < 4) {
      begun += 1;
      statuses.push((await list(nodes[begun % nodes.length] ?? "")).status);
    }
  };
  await Promise.all(Array.from({ length: 30 }, work));
  expect([...new Set(statuses)]).toEqual([200]);
  // In turn, each once.
  expect(listRefreshTokens()).toEqual(listRefreshTokens().map((_, index) => `refresh-${index}`));
  expect(used).toEqual(new Set(issued.keys()));
  // A token is renewed after half of its time at the earliest.
  const times = [...issued.values()];
  for (const [index, time] of times.slice(1).entries())
    expect(time - (times[index] ?? 0)).toBeGreaterThanOrEqual(2_500);
}, 120_000);

const SEED = 17;
const ROUNDS = choose({ short: 12, long: 200 });
/** When the node that renews is killed: the provider may have spent the refresh token in all of them. */
const POINTS = ["as it asks", "as it is answered", "a moment after it began", "a moment after its answer"] as const;

test("a node that is killed as it renews: the connection works or says that it has expired, and no refresh token is sent twice", async () => {
  const random = createRandom(SEED);
  const ends: string[] = [];
  provider.lifetime = 2;
  await reconnect();
  for (let round = 0; round < ROUNDS; round += 1) {
    const point = POINTS[round % POINTS.length] ?? "as it asks";
    const victim = cluster.nodes.at(-1) ?? expect.unreachable();
    const before = provider.seen.length;
    const answer = Promise.withResolvers<void>();
    if (point === "as it asks") provider.held = answer.promise;
    await endTokens({ store: cluster.store, box });
    const cut = list(victim.url).catch(() => undefined);
    if (point === "a moment after it began") await wait(random() * 40);
    else await expect.poll(() => provider.seen.length, { interval: 1 }).toBeGreaterThan(before);
    if (point === "a moment after its answer") await wait(random() * 20);
    await victim.kill();
    answer.resolve();
    provider.held = Promise.resolve();
    await cut;
    cluster.nodes.splice(cluster.nodes.indexOf(victim), 1);
    await cluster.add();
    const end = await readEnd();
    ends.push(`${point}: ${end}`);
    if (end === "expired") await reconnect();
    expect(new Set(listRefreshTokens()).size, `round ${round} of seed ${SEED}`).toBe(provider.seen.length);
  }
  expect(ends.filter((end) => !/: (works|expired)$/.test(end))).toEqual([]);
  expect(ends.filter((end) => end.startsWith("as it asks"))).toEqual(
    Array(Math.ceil(ROUNDS / 4)).fill("as it asks: expired"),
  );
}, 600_000);

/** How another node finds the connection. */
async function readEnd(): Promise<string> {
  const { status, json } = await list(cluster.nodes[0]?.url ?? "");
  if (status === 200) return "works";
  const [connection] = await (await connections()).list("letter");
  return connection?.state === "reauth_required" && json.error.code === "needs_reauth"
    ? "expired"
    : `${status} ${json.error.code}`;
}

async function reconnect(): Promise<void> {
  const settings = { box: "main", ...(await signIn()) };
  await (await connections()).update(connectionId, { settings, state: "healthy" });
  expect((await list(cluster.nodes[0]?.url ?? "")).status).toBe(200);
}
