import { setTimeout as sleepFor } from "node:timers/promises";
import { checkAccess } from "../auth/live-caller.ts";
import { ServiceError } from "../service-error.ts";
import type { Store } from "../store/open-store.ts";
import { isStoreUnavailable } from "../store/store-errors.ts";
import { restoreError, storeError } from "./outcome.ts";

/** Code of a call that a human stopped before it acted. */
export const STOPPED = "stopped";

/** Milliseconds between two looks whether somebody stopped it, perhaps in another process. */
const LOOK_EVERY_MS = 250;

/** Calls that wait for a moment before they act, so that a human can stop them. */
export type Delays = ReturnType<typeof createDelays>;

/** Creates the waits of one process; `waits_until` of the row in the log says that a call has not acted. */
export function createDelays({ store, now }: { readonly store: Store; readonly now: () => number }) {
  const closing = new AbortController();

  /** True for the one who ends the wait, of all who try: it acts, or is stopped. */
  async function end(
    id: string,
    stop?: { readonly accountId: string; readonly error: ServiceError },
  ): Promise<boolean> {
    const finished_at = new Date(now()).toISOString();
    const ended = stop && ({ status: "failed", error: storeError(stop.error), finished_at } as const);
    const { numUpdatedRows } = await store
      .updateTable("executions")
      .set({ waits_until: null, ...ended })
      .where("id", "=", id)
      .where("status", "=", "started")
      .where("waits_until", "is not", null)
      .$if(stop !== undefined, (query) => query.where("account_id", "=", stop?.accountId ?? ""))
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  const find = (id: string) =>
    store.selectFrom("executions").select(["waits_until", "error"]).where("id", "=", id).executeTakeFirst();

  /** A store that is away says nothing about the wait. */
  async function isStopped(id: string): Promise<boolean> {
    try {
      return (await find(id))?.waits_until == null;
    } catch (error) {
      if (isStoreUnavailable(error)) return false;
      throw error;
    }
  }

  return {
    /**
     * Waits; when it resolves, nobody can stop the call any more.
     *
     * @throws ServiceError 409 `stopped`; 401 for a caller that has lost its access meanwhile; 503 `client_gone`, `not_done` when
     *   the service closes: nothing was done.
     */
    async wait({
      id,
      callerId,
      ms,
      clientGone,
    }: {
      readonly id: string;
      /** Who asked for it. */
      readonly callerId: string;
      /** Milliseconds until it acts. */
      readonly ms: number;
      readonly clientGone: AbortSignal;
    }): Promise<void> {
      const over = performance.now() + ms;
      const signal = AbortSignal.any([clientGone, closing.signal]);
      for (let left = ms; left > 0; left = over - performance.now()) {
        await sleepFor(Math.min(left, LOOK_EVERY_MS), undefined, { signal }).catch(() => {});
        if (closing.signal.aborted) throw notBegun();
        if (clientGone.aborted) throw new ServiceError(503, "client_gone", "The caller went away before this ran.");
        if (await isStopped(id)) break;
      }
      if (!(await end(id))) throw restoreError((await find(id))?.error ?? storeError(notBegun()));
      await checkAccess(store, callerId, new Date(now()).toISOString());
    },

    /** Stops a call that waits, with the title of its action; false for one that has begun to act, has ended, or is not of the account. */
    stop: (accountId: string, { id, title }: { readonly id: string; readonly title: string }): Promise<boolean> =>
      end(id, { accountId, error: stopped(title) }),

    /** Stops those of this process, and whatever comes later. */
    close(): void {
      closing.abort();
    },
  };
}

function stopped(title: string): ServiceError {
  return new ServiceError(409, STOPPED, `"${title}" was stopped by a human before anything was done.`, {
    type: "policy",
    hint: "Do not send it again by yourself. Ask the user what they want instead.",
  });
}

/** Of a call that waited when its process ended. */
export function notBegun(): ServiceError {
  return new ServiceError(503, "not_done", "The service stopped before this was begun. Nothing was done.", {
    type: "network",
    hint: "Send it again as a new request, if it is still wanted.",
  });
}
