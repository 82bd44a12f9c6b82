import { createHmac } from "node:crypto";
import { z } from "zod";
import { sha256Hex } from "../base/hash.ts";

/** Where a service proves that it knows a key (not in the document). Nothing of the key is sent there. */
export const IDENTITY_PATH = "/api/plugin/identity";

/** Body of `POST /api/plugin/identity`; `challenge` is 32 random bytes. */
export const identityRequestSchema = z.looseObject({
  apiKeyId: z.string().min(1).max(100),
  challenge: z.string().regex(/^[\w-]{43}$/),
});
export type IdentityRequest = z.infer<typeof identityRequestSchema>;

/** Answer: the address under which the service is known, and the proof for it. */
export const identityReplySchema = z.looseObject({ baseUrl: z.string(), proof: z.string() });
export type IdentityReply = z.infer<typeof identityReplySchema>;

/**
 * The proof of a service at `baseUrl` (no slash at the end) that it knows a key, of whose text it keeps the SHA-256 (hex)
 * only. The address is part of it: a stranger who hands the challenge on gets a proof for another address than its own.
 */
export function proveIdentity(keyHash: string, o: { challenge: string; baseUrl: string }): string {
  return createHmac("sha256", keyHash).update(`svc identity\n${o.challenge}\n${o.baseUrl}`).digest("base64url");
}

/** As {@link proveIdentity}, for who has the key itself. */
export function expectIdentity(apiKey: string, o: { challenge: string; baseUrl: string }): string {
  return proveIdentity(sha256Hex(apiKey), o);
}
