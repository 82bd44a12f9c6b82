import { userInfo } from "node:os";
import { z } from "zod";
import { createId } from "../../shared/base/ids.ts";
import { jsonText, type Store } from "../store/open-store.ts";

const changeSchema = z.object({
  event: z.string(),
  did: z.string(),
  name: z.string(),
  id: z.string(),
  /** The user of the operating system. */
  by: z.string(),
});

/** A change that a command on the machine of the service made; `at` is ISO 8601. */
export type MachineChange = z.output<typeof changeSchema> & { readonly at: string };

/** Keeps a change for the log of the service, which another process writes, now or at its next start. */
export async function keepMachineChange(
  store: Store,
  change: Pick<MachineChange, "event" | "did" | "name" | "id">,
): Promise<void> {
  const content = JSON.stringify({ ...change, by: nameUser() });
  const row = { id: createId("change"), made_at: new Date().toISOString(), content };
  await store.insertInto("machine_changes").values(row).execute();
}

/** Hands the kept changes out, oldest first: each once, to one process of those that share the store. */
export async function takeMachineChanges(store: Store, tell: (change: MachineChange) => void): Promise<void> {
  const kept = await store.selectFrom("machine_changes").selectAll().orderBy("made_at").orderBy("id").execute();
  for (const { id, made_at: at, content } of kept) {
    const taken = await store.deleteFrom("machine_changes").where("id", "=", id).executeTakeFirst();
    if (taken.numDeletedRows > 0n) tell({ ...jsonText.pipe(changeSchema).parse(content), at });
  }
}

function nameUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run as a user that nobody named.
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}
