import { createId } from "../../../shared/base/ids.ts";
import { cleanText } from "../../../shared/base/text.ts";
import type { ServiceKeys } from "../../secrets/service-keys.ts";
import { ServiceError } from "../../service-error.ts";
import type { Store } from "../../store/open-store.ts";
import type { PasskeyRow } from "../../store/schema.ts";
import { openSession, type SigningBrowser } from "../open-session.ts";
import { type Person, selectPeople } from "../people.ts";
import {
  ALGORITHMS,
  assertionSchema,
  checkAssertion,
  checkCreation,
  creationSchema,
  type PasskeySite,
  readChallenge,
} from "./answers.ts";
import { CHALLENGE_LIFETIME_MS, createChallenges } from "./challenges.ts";

/** Sign-in of people with passkeys (WebAuthn). */
export type Passkeys = ReturnType<typeof createPasskeys>;

/** Longest name, in characters. */
export const MAX_PASSKEY_NAME = 60;
/** Most passkeys of one person. */
const MAX_PASSKEYS = 20;

/** Creates the passkeys of a store. `now` gives milliseconds since the epoch. */
export function createPasskeys(o: { store: Store; serviceKeys: ServiceKeys; now: () => number }) {
  const { store, now } = o;
  const parts = { store, now, challenges: createChallenges(o) };

  return {
    /** Passkeys of everybody in the account, the oldest first. */
    list(accountId: string): Promise<PasskeyRow[]> {
      return selectUsable(store)
        .selectAll("passkeys")
        .where("account_id", "=", accountId)
        .orderBy("created_at")
        .orderBy("passkeys.id")
        .execute();
    },

    /** Whether anybody can sign in with a passkey at this site. */
    async isUsedAt({ rpId }: PasskeySite): Promise<boolean> {
      const found = await selectUsable(store).select("passkeys.id").where("rp_id", "=", rpId).executeTakeFirst();
      return found !== undefined;
    },

    /** What the browser needs to make a passkey for this person, as JSON. */
    beginAdding: (site: PasskeySite, who: AddingBrowser) => describeCreation(parts, site, who),

    /**
     * Adds the passkey that the browser made.
     *
     * @param made.answer JSON of the browser
     * @throws ServiceError 400 for an answer that does not fit, 409 when the person has too many.
     */
    add: (site: PasskeySite, who: AddingBrowser, made: { name: string; answer: unknown }) =>
      addPasskey(parts, site, { ...who, ...made }),

    /** What a browser needs to use a passkey, as JSON: it is not said whose. */
    async beginSignIn({ rpId }: PasskeySite, browser: string) {
      const { generateAuthenticationOptions } = await import("@simplewebauthn/server");
      return generateAuthenticationOptions({
        rpID: rpId,
        challenge: await parts.challenges.make({ use: "sign-in", browser }),
        userVerification: "required",
        timeout: CHALLENGE_LIFETIME_MS,
      });
    },

    /**
     * Signs in the person whose passkey answered; the secret of the new session with the person and the name of the passkey,
     * or undefined when the answer does not fit.
     *
     * @param sent.answer JSON of the browser
     * @param sent.browser as it was given to `beginSignIn`
     */
    signIn: (site: PasskeySite, sent: { answer: unknown; browser: string; signing: SigningBrowser }) =>
      signInWithPasskey(parts, site, sent),

    /**
     * Removes a passkey, one of the person `of` when given, and signs out the browsers that it signed in, but for the session
     * `keep`; its name and the id of its person, undefined when there is none such.
     */
    remove: (accountId: string, o: { id: string; of?: string | undefined; keep: string }) =>
      removePasskey(store, accountId, o),
  };
}

interface Parts {
  readonly store: Store;
  readonly now: () => number;
  readonly challenges: ReturnType<typeof createChallenges>;
}

/** A signed-in browser that adds a passkey. */
interface AddingBrowser {
  readonly person: Person;
  /** Id of its session. */
  readonly session: string;
}

/** Passkeys of people who are not removed. */
function selectUsable(db: Store) {
  return selectPeople(db).innerJoin("passkeys", "person_id", "people.id");
}

async function describeCreation({ store, challenges }: Parts, { rpId }: PasskeySite, who: AddingBrowser) {
  const { generateRegistrationOptions } = await import("@simplewebauthn/server");
  const { id, name } = who.person;
  const known = store.selectFrom("passkeys").select("credential_id as id").where("person_id", "=", id);
  return generateRegistrationOptions({
    rpName: "svc",
    rpID: rpId,
    userID: new Uint8Array(Buffer.from(id)),
    userName: name,
    userDisplayName: name,
    challenge: await challenges.make({ use: "add", browser: who.session }),
    excludeCredentials: await known.where("rp_id", "=", rpId).execute(),
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    supportedAlgorithmIDs: ALGORITHMS,
    timeout: CHALLENGE_LIFETIME_MS,
  });
}

async function addPasskey(
  { store, now, challenges }: Parts,
  site: PasskeySite,
  { person, session, name, answer }: AddingBrowser & { name: string; answer: unknown },
): Promise<void> {
  const made = creationSchema.safeParse(answer);
  const challenge = made.success ? readChallenge(made.data) : "";
  const isValid = await challenges.isValid(challenge, { use: "add", browser: session });
  const checked = made.success && isValid ? await checkCreation(made.data, site, challenge) : undefined;
  if (checked === undefined) throw notAdded();
  const { credentialId, publicKey, counter } = checked;
  await store.transaction().execute(async (transaction) => {
    const own = transaction.selectFrom("passkeys").select("id").where("person_id", "=", person.id);
    if ((await own.execute()).length >= MAX_PASSKEYS) {
      throw new ServiceError(409, "too_many_passkeys", `You have ${MAX_PASSKEYS} passkeys. Remove one first.`);
    }
    if (!(await challenges.spend(challenge, transaction))) throw notAdded();
    const row: PasskeyRow = {
      id: createId("pky"),
      person_id: person.id,
      credential_id: credentialId,
      public_key: publicKey,
      counter,
      rp_id: site.rpId,
      name: cleanText(name, MAX_PASSKEY_NAME) ?? "Passkey",
      created_at: new Date(now()).toISOString(),
      last_used_at: null,
    };
    const insert = transaction.insertInto("passkeys").values(row);
    const added = await insert
      .onConflict((c) => c.doNothing())
      .returning("id")
      .executeTakeFirst();
    if (added === undefined) throw notAdded();
  });
}

function notAdded(): ServiceError {
  const message = "The passkey was not added: its answer did not fit, or came too late. Try again.";
  return new ServiceError(400, "passkey_refused", message);
}

interface SignedIn {
  readonly secret: string;
  readonly person: Person;
  /** Its name. */
  readonly passkey: string;
}

async function signInWithPasskey(
  { store, now, challenges }: Parts,
  site: PasskeySite,
  sent: { answer: unknown; browser: string; signing: SigningBrowser },
): Promise<SignedIn | undefined> {
  const { success, data: answer } = assertionSchema.safeParse(sent.answer);
  if (!success) return undefined;
  const challenge = readChallenge(answer);
  if (!(await challenges.isValid(challenge, { use: "sign-in", browser: sent.browser }))) return undefined;
  const known = selectUsable(store)
    .selectAll("passkeys")
    .select(["people.name as person", "role"])
    .where("credential_id", "=", answer.id);
  const passkey = await known.where("rp_id", "=", site.rpId).executeTakeFirst();
  const counter = passkey && (await checkAssertion(answer, passkey, { site, challenge }));
  if (passkey === undefined || counter === undefined) return undefined;
  return store.transaction().execute(async (transaction) => {
    if (!(await challenges.spend(challenge, transaction))) return undefined;
    // Of two uses at once the second finds another counter, or none when the passkey or its person was removed meanwhile.
    const used = await transaction
      .updateTable("passkeys")
      .set({ counter, last_used_at: new Date(now()).toISOString() })
      .where("id", "=", passkey.id)
      .where("counter", "=", passkey.counter)
      .where("person_id", "in", selectPeople(transaction).select("id"))
      .returning("id")
      .executeTakeFirst();
    if (used === undefined) return undefined;
    const { person_id: personId, id: passkeyId, name, role } = passkey;
    const secret = await openSession(transaction, { personId, passkeyId, browser: sent.signing, now: now() });
    return { secret, person: { id: personId, name: passkey.person, role }, passkey: name };
  });
}

function removePasskey(
  store: Store,
  accountId: string,
  { id, of, keep }: { id: string; of?: string | undefined; keep: string },
): Promise<Pick<PasskeyRow, "name" | "person_id"> | undefined> {
  return store.transaction().execute(async (transaction) => {
    const people = transaction.selectFrom("people").select("id").where("account_id", "=", accountId);
    const removed = await transaction
      .deleteFrom("passkeys")
      .where("id", "=", id)
      .where("person_id", "in", of === undefined ? people : people.where("id", "=", of))
      .returning(["name", "person_id"])
      .executeTakeFirst();
    if (removed === undefined) return undefined;
    await transaction.deleteFrom("owner_sessions").where("passkey_id", "=", id).where("id", "!=", keep).execute();
    return removed;
  });
}
