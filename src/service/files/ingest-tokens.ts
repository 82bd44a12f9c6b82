import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { parseJson } from "../../shared/base/json.ts";
import { quoteWord, shortenText } from "../../shared/base/text.ts";
import { MAX_FILE_BYTES } from "../../shared/wire/constants.ts";
import type { UploadInstruction } from "../../shared/wire/execution.ts";
import { INGEST_PATH } from "../../shared/wire/file.ts";
import type { Store } from "../store/open-store.ts";
import { sanitiseFileName } from "./file-name.ts";

const LIFETIME_MS = 10 * 60 * 1000;
/** A minted token has about 600 characters; longer ones are not even hashed. */
const MAX_TOKEN_LENGTH = 4096;
/** Longest field path in a token, in characters; callers choose theirs. */
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

/** The one upload a redeemed token allows. */
export interface IngestGrant {
  readonly account: string;
  readonly tool: string;
  /** Cut after 200 characters. */
  readonly field: string;
  readonly maxBytes: number;
}

/** An upload instruction and its one-line command. */
type UploadOffer = UploadInstruction & { readonly command: string };

/** Mints and redeems the single-use tokens of `POST /api/files/ingest`. */
export type IngestTokens = ReturnType<typeof createIngestTokens>;

/**
 * Tokens read `v1.<base64url claims>.<base64url HMAC-SHA256>` and live 10 minutes. `secret` should have 32 random bytes;
 * `baseUrl` is the address callers reach the service at, without a trailing slash.
 */
export function createIngestTokens(options: {
  readonly secret: string | Uint8Array;
  readonly baseUrl: string;
  /** Of parallel calls with one id exactly one gets true; see {@link createTokenSpender}. */
  readonly spend: (jti: string, expiresAtMs: number) => Promise<boolean>;
  readonly now: () => number;
}) {
  const sign = (text: string) => createHmac("sha256", options.secret).update(text).digest("base64url");
  const url = `${options.baseUrl.replace(/\/+$/, "")}${INGEST_PATH}`;
  return {
    /** Undefined when `reference` cannot be named in a command line. */
    mint(request: { account: string; tool: string; field: string; reference: string }): UploadOffer | undefined {
      const { account, tool, field, reference } = request;
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
    /** Spends the token before anything is read; undefined for every kind of bad token alike. */
    async redeem(token: string): Promise<IngestGrant | undefined> {
      const parts = token.split(".");
      const [version, payload, signature] = parts;
      if (token.length > MAX_TOKEN_LENGTH || parts.length !== 3 || version !== "v1" || !payload || !signature)
        return undefined;
      const given = Buffer.from(signature);
      const wanted = Buffer.from(sign(`v1.${payload}`));
      if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
      const claims = claimsSchema.safeParse(parseJson(Buffer.from(payload, "base64url").toString("utf8"))).data;
      if (claims === undefined || claims.exp <= options.now()) return undefined;
      if (!(await options.spend(claims.jti, claims.exp))) return undefined;
      return { account: claims.acct, tool: claims.tool, field: claims.field, maxBytes: claims.maxBytes };
    },
  };
}

/** Remembers which upload tokens were used, across restarts; `forgetExpired` removes them a day after their end. */
export function createTokenSpender(store: Store) {
  return async (jti: string, expiresAtMs: number): Promise<boolean> => {
    const row = { jti, expires_at: new Date(expiresAtMs).toISOString() };
    const insert = store.insertInto("spent_ingest_tokens").values(row);
    const spent = insert.onConflict((c) => c.doNothing()).returning("jti");
    return (await spent.executeTakeFirst()) !== undefined;
  };
}

/** Quotes one shell word so that every POSIX shell, and a careful reader, gets exactly `text`. */
function quote(text: string): string {
  // Inside double quotes these keep a meaning; "!" only in interactive shells, which is where the line is pasted.
  return /["$`\\!]/.test(text) ? quoteWord(text) : `"${text}"`;
}

/** True when curl can be told to read `reference`: no control characters, not standard input. */
function canNameInCommand(reference: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  return reference !== "" && reference !== "-" && !/[\u0000-\u001f\u007f]/.test(reference);
}

/** The ready-to-run line of a `missing_file_bytes` hint ("File rules" 8): one command, one file, one token. */
export function writeUploadCommand(upload: {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly reference: string;
}): string {
  const headers = Object.entries(upload.headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`);
  return ["curl -sS -X POST", quote(upload.url), ...headers, `--data-binary ${quote(`@${upload.reference}`)}`].join(
    " ",
  );
}
