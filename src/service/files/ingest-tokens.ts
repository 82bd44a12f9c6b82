import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import type { UploadInstruction } from "../../wire/execution.ts";
import { INGEST_PATH } from "../../wire/file.ts";
import { MAX_FILE_BYTES } from "../../wire/limits.ts";
import { shortenText } from "../shorten-text.ts";
import { sanitiseFileName } from "./file-name.ts";
import { canNameInCommand, writeUploadCommand } from "./upload-command.ts";

const LIFETIME_MS = 10 * 60 * 1000;
const MAX_TOKEN_LENGTH = 4096;
/** Longest path to a field in a token, in characters: a caller may make one of any length. */
const MAX_FIELD = 200;

const claimsSchema = z.strictObject({
  acct: z.string(),
  tool: z.string(),
  field: z.string(),
  maxBytes: z.int().positive(),
  /** Milliseconds since the epoch. */
  exp: z.int(),
  jti: z.string().min(16),
});

/** What a redeemed token allows, once. */
export interface IngestGrant {
  readonly account: string;
  readonly tool: string;
  /** Cut after 200 characters. */
  readonly field: string;
  readonly maxBytes: number;
}

/** Remembers spent tokens until they expire. `spend` is atomic: of parallel calls with one id exactly one gets true. */
export interface SpentTokens {
  spend(jti: string, expiresAtMs: number): Promise<boolean>;
}

/** An upload instruction and its one-line command. */
export type UploadOffer = UploadInstruction & { readonly command: string };

/** Mints and redeems the single-use tokens of `POST /api/files/ingest`. */
export interface IngestTokens {
  /** Undefined when `reference` cannot be named in a command line. */
  mint(request: {
    readonly account: string;
    readonly tool: string;
    readonly field: string;
    readonly reference: string;
  }): UploadOffer | undefined;
  /** Spends the token before anything is read; undefined for every kind of bad token alike. */
  redeem(token: string): Promise<IngestGrant | undefined>;
}

function parseClaims(payload: string): z.infer<typeof claimsSchema> | undefined {
  try {
    return claimsSchema.parse(JSON.parse(Buffer.from(payload, "base64url").toString("utf8")));
  } catch {
    return undefined;
  }
}

/**
 * Tokens read `v1.<base64url claims>.<base64url HMAC-SHA256>` and live 10 minutes. `secret` should have 32 random bytes;
 * `baseUrl` is the address callers reach the service at, without a trailing slash.
 */
export function createIngestTokens(options: {
  readonly secret: string | Uint8Array;
  readonly baseUrl: string;
  readonly store: SpentTokens;
  readonly now: () => number;
}): IngestTokens {
  const sign = (text: string) => createHmac("sha256", options.secret).update(text).digest("base64url");
  const url = `${options.baseUrl.replace(/\/+$/, "")}${INGEST_PATH}`;
  return {
    mint({ account, tool, field, reference }) {
      if (!canNameInCommand(reference)) return undefined;
      const exp = options.now() + LIFETIME_MS;
      const jti = randomBytes(18).toString("base64url");
      const named = shortenText(field, MAX_FIELD);
      const claims = { acct: account, tool, field: named, maxBytes: MAX_FILE_BYTES, exp, jti };
      const body = `v1.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
      const headers = {
        Authorization: `Bearer ${body}.${sign(body)}`,
        "Content-Type": "application/octet-stream",
        "x-file-name": encodeURIComponent(sanitiseFileName(reference)).replaceAll("'", "%27"),
      };
      const expiresAt = new Date(exp).toISOString();
      const command = writeUploadCommand({ url, headers, reference });
      return { url, method: "POST", headers, field, maxBytes: MAX_FILE_BYTES, expiresAt, command };
    },
    async redeem(token) {
      const parts = token.split(".");
      const [version, payload, signature] = parts;
      if (token.length > MAX_TOKEN_LENGTH || parts.length !== 3 || version !== "v1" || !payload || !signature)
        return undefined;
      const given = Buffer.from(signature);
      const wanted = Buffer.from(sign(`v1.${payload}`));
      if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
      const claims = parseClaims(payload);
      if (claims === undefined || claims.exp <= options.now()) return undefined;
      if (!(await options.store.spend(claims.jti, claims.exp))) return undefined;
      return { account: claims.acct, tool: claims.tool, field: claims.field, maxBytes: claims.maxBytes };
    },
  };
}
