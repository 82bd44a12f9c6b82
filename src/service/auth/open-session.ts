import { createId } from "../../shared/base/ids.ts";
import type { Store } from "../store/open-store.ts";
import { describeBrowser } from "./describe-browser.ts";
import { createSecret, hashSecret } from "./secrets.ts";

/** How long a browser stays signed in. */
export const OWNER_SESSION_LIFETIME_MS = 7 * 24 * 60 * 60 * 1000;

/** What a request tells about the browser that signs in. */
export interface SigningBrowser {
  /** Header of the request. */
  readonly userAgent?: string | undefined;
  /** Network address it came from. */
  readonly address?: string | undefined;
}

/** Signs a browser in as a person; the secret of the session, which is stored as its hash. */
export async function openSession(
  db: Store,
  o: { personId: string; passkeyId: string | null; browser: SigningBrowser; now: number },
): Promise<string> {
  const secret = createSecret();
  const at = new Date(o.now).toISOString();
  await db
    .insertInto("owner_sessions")
    .values({
      session_hash: hashSecret(secret),
      id: createId("ses"),
      person_id: o.personId,
      passkey_id: o.passkeyId,
      browser: describeBrowser(o.browser.userAgent),
      address: o.browser.address ?? null,
      created_at: at,
      last_seen_at: at,
      expires_at: new Date(o.now + OWNER_SESSION_LIFETIME_MS).toISOString(),
    })
    .execute();
  return secret;
}
