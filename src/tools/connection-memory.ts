import { readFile } from "node:fs/promises";
import { z } from "zod";
import { replaceFile } from "../approvals/replace-file.ts";

/** Which account a human wants for an integration from now on. Only a human's own wish is entered here. */
export interface ConnectionMemory {
  find(integration: string): string | undefined | Promise<string | undefined>;
  remember(integration: string, connectionId: string): Promise<void>;
  forget(integration: string): Promise<void>;
}

const fileSchema = z.object({ version: z.literal(1), connections: z.record(z.string(), z.string()) });

/** Opens the memory in `file` (JSON, mode 0600, replaced atomically); without a file it lasts as long as the process. */
export async function openConnectionMemory(file?: string): Promise<ConnectionMemory> {
  let connections = new Map(file === undefined ? [] : await readConnections(file));
  const save = async (changed: Map<string, string>) => {
    const text = JSON.stringify({ version: 1, connections: Object.fromEntries(changed) }, null, 2);
    if (file !== undefined) await replaceFile(file, `${text}\n`);
    connections = changed;
  };
  return {
    find: (integration) => connections.get(integration),
    remember: (integration, id) => save(new Map(connections).set(integration, id)),
    async forget(integration) {
      if (!connections.has(integration)) return;
      await save(new Map([...connections].filter(([other]) => other !== integration)));
    },
  };
}

/** A damaged file is an empty one: the human is asked again. */
async function readConnections(file: string): Promise<[string, string][]> {
  try {
    return Object.entries(fileSchema.parse(JSON.parse(await readFile(file, "utf8"))).connections);
  } catch {
    return [];
  }
}
