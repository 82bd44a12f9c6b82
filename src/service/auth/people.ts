import type { Selectable } from "kysely";
import type { Store } from "../store/open-store.ts";
import type { Role, Tables } from "../store/schema.ts";
import { createId } from "./secrets.ts";

/** Who may sign in. */
type PersonRow = Selectable<Tables["people"]>;

/** A person as pages and records name them. */
export type Person = Pick<PersonRow, "id" | "name" | "role">;

/** Name of the first person until they give another. */
const FIRST_NAME = "Owner";

/** True when somebody of this role may do what takes at least the role `least`. */
export function mayDo(role: Role, least: Role): boolean {
  return role === "owner" || least === "approver";
}

/** Makes the first person of an account, its owner. */
export async function addFirstPerson(store: Store, accountId: string, now: number): Promise<void> {
  const at = new Date(now).toISOString();
  const row = { account_id: accountId, name: FIRST_NAME, role: "owner", joined_at: at } as const;
  await store.insertInto("people").values(newPerson(row, at)).execute();
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

function newPerson(fields: Omit<PersonRow, "id" | "invited_at" | "removed_at">, invited_at: string): PersonRow {
  return { id: createId("per"), ...fields, invited_at, removed_at: null };
}
