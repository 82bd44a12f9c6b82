import type { Selectable } from "kysely";
import { createId } from "../../shared/base/ids.ts";
import { cleanText, foldText } from "../../shared/base/text.ts";
import { ServiceError } from "../service-error.ts";
import { type Store, takeTurn } from "../store/open-store.ts";
import type { Role, Tables } from "../store/schema.ts";

/** Who may sign in. */
export type PersonRow = Selectable<Tables["people"]>;

/** A person as pages and records name them. */
export type Person = Pick<PersonRow, "id" | "name" | "role">;

/** Facts about a person that an owner gives. */
type PersonFields = Pick<PersonRow, "name" | "role">;

/** Name of the first person until they give another. */
const FIRST_NAME = "Owner";
/** Longest name, in characters. */
export const MAX_NAME = 60;

/** True when somebody of this role may do what takes at least the role `least`. */
export function mayDo(role: Role, least: Role): boolean {
  return role === "owner" || least === "approver";
}

/** The role that a form or a command names. */
export function readRole(text: string | null | undefined): Role {
  if (text === "owner" || text === "approver") return text;
  throw new ServiceError(400, "invalid_person", "The role must be owner or approver.");
}

/** The people of an account. */
export type People = ReturnType<typeof createPeople>;

/** Makes the first person of an account, its owner. */
export async function addFirstPerson(store: Store, accountId: string, now: number): Promise<void> {
  const at = new Date(now).toISOString();
  const row = { account_id: accountId, name: FIRST_NAME, role: "owner", joined_at: at } as const;
  await store.insertInto("people").values(newPerson(row, at)).execute();
}

/** Creates the people of a store. `now` gives milliseconds since the epoch. */
export function createPeople(store: Store, now: () => number) {
  const at = () => new Date(now()).toISOString();

  /** The result of `work` on the people who are not removed; nobody else changes them meanwhile. */
  function change<Result>(accountId: string, work: (people: PersonRow[], db: Store) => Promise<Result>) {
    return store.transaction().execute(async (transaction) => {
      await takeTurn(transaction, "people");
      return work(await listPeople(transaction, accountId), transaction);
    });
  }

  return {
    /** Those who are not removed, the longest known first. */
    list: (accountId: string): Promise<PersonRow[]> => listPeople(store, accountId),

    /** @throws ServiceError 404 unknown or removed. */
    find: async (accountId: string, id: string): Promise<PersonRow> =>
      requirePerson(await listPeople(store, accountId), id),

    /**
     * Adds a person, who signs in with a link that is made for them.
     *
     * @throws ServiceError 400 without a name, 409 when another person has it.
     */
    invite: (accountId: string, { name, role }: PersonFields): Promise<PersonRow> =>
      change(accountId, async (people, db) => {
        const fields = { account_id: accountId, name: readName(name, people), role, joined_at: null };
        const person = newPerson(fields, at());
        await db.insertInto("people").values(person).execute();
        return person;
      }),

    /**
     * Changes name and role, which counts from the next request on.
     *
     * @throws ServiceError 400 without a name, 404 unknown, 409 when another person has the name or no owner would be left.
     */
    update: (accountId: string, id: string, { name, role }: PersonFields): Promise<void> =>
      change(accountId, async (people, db) => {
        const person = requirePerson(people, id);
        if (role === "approver") requireOtherOwner(people, person);
        const others = people.filter((other) => other !== person);
        await db
          .updateTable("people")
          .set({ name: readName(name, others), role })
          .where("id", "=", id)
          .execute();
      }),

    /**
     * Removes a person with their passkeys: links and sessions end at once. Their name stays in the log.
     *
     * @throws ServiceError 404 unknown, 409 when no owner would be left.
     */
    remove: (accountId: string, id: string): Promise<void> =>
      change(accountId, async (people, db) => {
        requireOtherOwner(people, requirePerson(people, id));
        await db.updateTable("people").set({ removed_at: at() }).where("id", "=", id).execute();
        await db.deleteFrom("passkeys").where("person_id", "=", id).execute();
      }),
  };
}

/** The owner whom `svc login-link` signs in: the one known longest. */
export async function findFirstOwner(store: Store, accountId: string): Promise<string> {
  const owners = selectPeople(store).where("account_id", "=", accountId).where("role", "=", "owner");
  const joined = owners.where("joined_at", "is not", null).orderBy("invited_at").orderBy("id");
  return (await joined.select("id").executeTakeFirstOrThrow()).id;
}

/** Those who are not removed: the links and sessions of others count for nothing. */
export function selectPeople(store: Store) {
  return store.selectFrom("people").where("removed_at", "is", null);
}

function listPeople(store: Store, accountId: string): Promise<PersonRow[]> {
  return selectPeople(store)
    .selectAll()
    .where("account_id", "=", accountId)
    .orderBy("invited_at")
    .orderBy("id")
    .execute();
}

function newPerson(fields: Omit<PersonRow, "id" | "invited_at" | "removed_at">, invited_at: string): PersonRow {
  return { id: createId("per"), ...fields, invited_at, removed_at: null };
}

/** Somebody who was invited and has never signed in may never do so. */
function isOwner({ role, joined_at }: PersonRow): boolean {
  return role === "owner" && joined_at !== null;
}

function requirePerson(people: readonly PersonRow[], id: string): PersonRow {
  const person = people.find((one) => one.id === id);
  if (person === undefined)
    throw new ServiceError(404, "unknown_person", "There is no such person, or they were removed already.");
  return person;
}

function requireOtherOwner(people: readonly PersonRow[], person: PersonRow): void {
  if (!isOwner(person) || people.some((other) => other !== person && isOwner(other))) return;
  throw new ServiceError(
    409,
    "last_owner",
    `${person.name} is the only owner who has signed in. Make somebody else an owner first.`,
  );
}

/** A name that no other person has. */
function readName(text: string, others: readonly PersonRow[]): string {
  const name = cleanText(text, MAX_NAME);
  if (name === null) throw new ServiceError(400, "invalid_person", "A person needs a name: it stands in the log.");
  if (others.some((other) => foldText(other.name) === foldText(name))) {
    throw new ServiceError(409, "name_taken", `Somebody called ${name} is there already. The log needs another name.`);
  }
  return name;
}
