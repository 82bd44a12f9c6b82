import type { Store } from "../store/open-store.ts";

/** Whether the list of first steps was put away by an owner. */
export type FirstSteps = ReturnType<typeof createFirstSteps>;

/** Creates the marks of a store. `now` gives milliseconds since the epoch. */
export function createFirstSteps(store: Store, now: () => number) {
  return {
    async areHidden(accountId: string): Promise<boolean> {
      const account = store.selectFrom("accounts").select("first_steps_hidden_at").where("id", "=", accountId);
      return (await account.executeTakeFirst())?.first_steps_hidden_at != null;
    },

    /** Puts the list away, for all owners and for good. */
    async hide(accountId: string): Promise<void> {
      const first_steps_hidden_at = new Date(now()).toISOString();
      await store.updateTable("accounts").set({ first_steps_hidden_at }).where("id", "=", accountId).execute();
    },
  };
}
