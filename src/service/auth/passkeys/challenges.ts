import { makeOnce } from "../../../shared/base/concurrency.ts";
import type { ServiceKeys } from "../../secrets/service-keys.ts";
import type { Store } from "../../store/open-store.ts";
import { createSecret, deriveToken, hashSecret, isSameHash } from "../secrets.ts";

/** How long a browser may take to answer a challenge, in milliseconds. */
export const CHALLENGE_LIFETIME_MS = 5 * 60 * 1000;

/** What a challenge is for, and the one browser that may answer it. */
export interface ChallengeUse {
  readonly use: "sign-in" | "add";
  /** Something that only this browser has. */
  readonly browser: string;
}

/** Creates the challenges of a store. `now` gives milliseconds since the epoch. */
export function createChallenges(o: { store: Store; serviceKeys: ServiceKeys; now: () => number }) {
  const getKey = makeOnce(() => o.serviceKeys.read("passkey-challenges", createSecret));
  const sign = async (claim: string, { use, browser }: ChallengeUse) =>
    deriveToken(await getKey(), `${use} ${claim} ${hashSecret(browser)}`);

  return {
    /** A new challenge. Nothing is stored for it, so that strangers who ask for many fill no table. */
    async make(use: ChallengeUse): Promise<string> {
      const claim = `${o.now() + CHALLENGE_LIFETIME_MS}.${createSecret()}`;
      return `${claim}.${await sign(claim, use)}`;
    },

    /** True for a challenge that was made for this use and browser and is not too old. */
    async isValid(challenge: string, use: ChallengeUse): Promise<boolean> {
      const [end = "", nonce = "", signature = ""] = challenge.split(".");
      const isOurs = isSameHash(signature, await sign(`${end}.${nonce}`, use));
      return isOurs && Number(end) > o.now();
    },

    /** Takes a valid challenge out of use; false when that was done before. `db` is the transaction it counts in. */
    async spend(challenge: string, db: Store): Promise<boolean> {
      const expires_at = new Date(Number.parseInt(challenge, 10)).toISOString();
      const insert = db.insertInto("spent_challenges").values({ challenge_hash: hashSecret(challenge), expires_at });
      const spent = insert.onConflict((c) => c.doNothing()).returning("challenge_hash");
      return (await spent.executeTakeFirst()) !== undefined;
    },
  };
}
