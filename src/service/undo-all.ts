import type { ServiceLog } from "./service-log.ts";

/** Ends one thing that was opened. */
export type Undo = () => Promise<unknown> | unknown;

/**
 * Undoes what was opened, the last first and one after the other; what fails keeps none of the others from its turn.
 *
 * @throws the first failure, when everything has had its turn; all are logged.
 */
export async function undoAll(opened: readonly Undo[], log: ServiceLog): Promise<void> {
  const failures: unknown[] = [];
  for (const undo of opened.toReversed()) {
    try {
      await undo();
    } catch (cause) {
      failures.push(cause);
      log({ level: "error", message: "A part of the service could not be closed.", cause });
    }
  }
  if (failures.length > 0) throw failures[0];
}
