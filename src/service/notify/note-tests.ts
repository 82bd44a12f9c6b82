import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { createId } from "../../shared/base/ids.ts";
import { SvcError } from "../../shared/errors.ts";
import { readServingUrl, STORE_FILE } from "../store/data-folder.ts";
import { connectStore, jsonText, type Store } from "../store/open-store.ts";

const resultsSchema = jsonText.pipe(
  z.array(z.object({ target: z.string(), ok: z.boolean(), reason: z.string().nullable() })),
);

/** How a test note to one target ended. */
export type TestResult = z.output<typeof resultsSchema>[number];

const LOOK_EVERY_MS = 200;
/** Two looks of a service with its longest pause between them would be too long: default heartbeat, sending, some more. */
const LONGEST_MS = 45_000;

/**
 * Asks the service that another process runs on this data folder to send a test note to each of its targets, and waits for
 * the results. Write access to the folder proves the owner.
 *
 * @param o.database the database of that service, when it is not a file in the folder.
 * @throws SvcError `invalid_config`, field `dataDir`, when no service runs there; `timeout` when it does not answer.
 */
export async function requestTestNotes(o: {
  dataDir: string;
  database?: string | undefined;
  signal: AbortSignal;
}): Promise<TestResult[]> {
  const folder = resolve(o.dataDir);
  await readServingUrl(folder);
  const store = await connectStore(o.database ?? join(folder, STORE_FILE), () => {});
  const id = createId("test");
  try {
    const created_at = new Date().toISOString();
    await store.insertInto("note_tests").values({ id, created_at, node_id: null, results: null }).execute();
    for (const end = Date.now() + LONGEST_MS; Date.now() < end; ) {
      const row = await store.selectFrom("note_tests").select("results").where("id", "=", id).executeTakeFirst();
      if (row?.results) return resultsSchema.parse(row.results);
      await delay(LOOK_EVERY_MS, undefined, { signal: o.signal });
    }
    throw noAnswer();
  } finally {
    await store.deleteFrom("note_tests").where("id", "=", id).execute();
    await store.destroy();
  }
}

/** Answers such requests, of several processes by one. */
export async function answerTests(
  { store, nodeId }: { store: Store; nodeId: string },
  sendTests: () => Promise<TestResult[]>,
): Promise<void> {
  const open = await store.selectFrom("note_tests").select("id").where("node_id", "is", null).execute();
  for (const { id } of open) {
    const own = store.updateTable("note_tests").where("id", "=", id);
    const taken = await own.set({ node_id: nodeId }).where("node_id", "is", null).executeTakeFirst();
    if (taken.numUpdatedRows === 0n) continue;
    await own.set({ results: JSON.stringify(await sendTests()) }).execute();
  }
}

function noAnswer(): SvcError {
  return new SvcError("timeout", "The service did not say how its test notes ended.", {
    hint: "Look at its log; where it runs with --database, name that with --database.",
  });
}
