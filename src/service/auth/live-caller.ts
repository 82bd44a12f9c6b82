import { z } from "zod";
import { ServiceError } from "../service-error.ts";
import type { Store } from "../store/open-store.ts";
import { readClientId } from "./grants.ts";

/**
 * True for a caller that may not act any more: a revoked key, an OAuth client without access, somebody who was removed, and one
 * that is not known. `at`: ISO 8601.
 */
export async function hasLostAccess(db: Store, callerId: string, at: string): Promise<boolean> {
  const clientId = readClientId(callerId);
  if (clientId !== undefined) {
    const grants = await db
      .selectFrom("oauth_records")
      .select("payload")
      .where("model", "=", "Grant")
      .where((e) => e.or([e("expires_at", "is", null), e("expires_at", ">", at)]))
      .execute();
    return !grants.some(({ payload }) => grantSchema.parse(JSON.parse(payload)).clientId === clientId);
  }
  const key = db.selectFrom("api_keys").select("revoked_at as ended").where("id", "=", callerId);
  const person = db.selectFrom("people").select("removed_at as ended").where("id", "=", callerId);
  const trigger = db.selectFrom("triggers").select("id").where("id", "=", callerId);
  const found = (await key.executeTakeFirst()) ?? (await person.executeTakeFirst());
  if (found !== undefined) return found.ended !== null;
  return (await trigger.executeTakeFirst()) === undefined;
}

/** @throws ServiceError 401 `unauthorized` for such a caller, once its call was let run. */
export async function checkAccess(db: Store, callerId: string, at: string): Promise<void> {
  if (!(await hasLostAccess(db, callerId, at))) return;
  throw new ServiceError(401, "unauthorized", "The caller has lost its access. Nothing was done.", { type: "auth" });
}

const grantSchema = z.looseObject({ clientId: z.string().optional() });
