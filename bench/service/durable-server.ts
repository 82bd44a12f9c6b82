import { randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { serve } from "@hono/node-server";
import { Hono } from "hono";

/*
 * The floor of a durable write: the same framework and server, and per request two commits to a SQLite file that wait for
 * the disk, with the table, indexes and pragmas of the service and as many bytes. Requests of one turn of the event loop
 * share each of the two. It answers with as many bytes as `size` in the query asks for: `node durable-server.ts FILE`.
 */
const database = new DatabaseSync(process.argv[2] ?? "");
database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON");
const [begin, commit] = ["begin immediate", "commit"].map((sql) => database.prepare(sql));
const insert = database.prepare(
  `insert into executions (id, account_id, api_key_id, connection_id, integration, action_id, tool_name,
    side_effect_level, arguments, status, output, error, started_at, finished_at, node_id)
  values (?, ?, ?, ?, 'idle', 'write', 'idle_write', 'write', ?, 'started', null, null, ?, null, ?)`,
);
const finish = database.prepare("update executions set status = 'succeeded', output = ?, finished_at = ? where id = ?");
const [account, key, connection, node] = ["acc", "key", "con", "node"].map((kind) => createId(kind));

function createId(kind: string): string {
  return `${kind}_${randomUUID().replaceAll("-", "").slice(0, 22)}`;
}

/** Does work in the transaction of this turn; resolves when that is on the disk. */
let waiting: { readonly work: () => void; readonly done: () => void }[] = [];
function write(work: () => void): Promise<void> {
  if (waiting.length === 0) setImmediate(flush);
  return new Promise((done) => waiting.push({ work, done }));
}

function flush(): void {
  const all = waiting;
  waiting = [];
  begin?.run();
  for (const { work } of all) work();
  commit?.run();
  for (const { done } of all) done();
}

const app = new Hono();
app.get("/health", (c) => c.text("ok"));
app.post("/write", async (c) => {
  const body = (await c.req.json()) as { arguments: { text: string } };
  const id = createId("exe");
  const now = () => new Date().toISOString();
  const started = [id, account, key, connection, JSON.stringify(body.arguments), now(), node] as string[];
  await write(() => insert.run(...started));
  const output = JSON.stringify({ written: body.arguments.text });
  await write(() => finish.run(output, now(), id));
  const filler = "x".repeat(Math.max(0, Number(c.req.query("size")) - 13));
  return c.body(JSON.stringify({ filler }), 200, { "content-type": "application/json" });
});

const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => {
  console.log(`Listening on http://127.0.0.1:${port}`);
});
process.on("SIGTERM", () => server.close(() => database.close()));
