import { readFileSync } from "node:fs";
import { z } from "zod";
import { replaceFile } from "../approvals/replace-file.ts";
import { takeTurns } from "../approvals/take-turns.ts";

/** Which account a human wants for an integration from now on. Only a human's own wish is entered here. */
export interface ConnectionMemory {
  find(integration: string): string | undefined | Promise<string | undefined>;
  remember(integration: string, connectionId: string): Promise<void>;
  forget(integration: string): Promise<void>;
}

const fileSchema = z.object({ version: z.literal(1), connections: z.record(z.string(), z.string()) });

type Connections = ReadonlyMap<string, string>;

/**
 * Opens the memory in `file` (JSON, mode 0600, replaced atomically); without a file it lasts as long as the process.
 * The file is read anew each time: what a human chose in another process counts at once and is kept.
 */
export async function openConnectionMemory(file?: string): Promise<ConnectionMemory> {
  let held: Connections = new Map();
  const load = () => (file === undefined ? held : readConnections(file));
  const save = async (changed: Connections) => {
    const text = JSON.stringify({ version: 1, connections: Object.fromEntries(changed) }, null, 2);
    if (file !== undefined) await replaceFile(file, `${text}\n`);
    held = changed;
  };
  const inTurn = takeTurns(file);
  return {
    find: (integration) => load().get(integration),
    remember: (integration, id) => inTurn(() => save(new Map(load()).set(integration, id))),
    forget: (integration) =>
      inTurn(async () => {
        const connections = load();
        if (!connections.has(integration)) return;
        await save(new Map([...connections].filter(([other]) => other !== integration)));
      }),
  };
}

/** A damaged file is an empty one: the human is asked again. */
function readConnections(file: string): Connections {
  try {
    return new Map(Object.entries(fileSchema.parse(JSON.parse(readFileSync(file, "utf8"))).connections));
  } catch {
    return new Map();
  }
}
