import type { StateFile } from "../journal/state-file.ts";

/** Which account a human wants for an integration from now on. Only a human's own wish is entered here. */
export interface ConnectionMemory {
  find(integration: string): string | undefined | Promise<string | undefined>;
  remember(integration: string, connectionId: string): Promise<void>;
  forget(integration: string): Promise<void>;
}

/**
 * The memory in a state file; without one it lasts as long as the process. It is read anew each time: what a human chose
 * in another process counts at once.
 */
export function createConnectionMemory(state?: StateFile): ConnectionMemory {
  if (state === undefined) return createHeldMemory();
  const find = state.prepare("SELECT connection_id FROM accounts WHERE integration = ?");
  const remember = state.prepare("INSERT OR REPLACE INTO accounts VALUES (?, ?)");
  const forget = state.prepare("DELETE FROM accounts WHERE integration = ?");
  return {
    find(integration) {
      const row = find.get(integration);
      return row && String(row.connection_id);
    },
    remember: (integration, id) => state.change(() => void remember.run(integration, id)),
    forget: (integration) => state.change(() => void forget.run(integration)),
  };
}

function createHeldMemory(): ConnectionMemory {
  const connections = new Map<string, string>();
  return {
    find: (integration) => connections.get(integration),
    async remember(integration, id) {
      connections.set(integration, id);
    },
    async forget(integration) {
      connections.delete(integration);
    },
  };
}
