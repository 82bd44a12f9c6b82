import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

/** Bytes of the key of a {@link SecretBox}. */
export const SECRET_KEY_BYTES = 32;

const ALGORITHM = "aes-256-gcm";
const VERSION = "v1";
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts single values for the store. */
export interface SecretBox {
  /** `place` says where the value is kept; it opens only there, so that rows cannot be exchanged. */
  seal(value: string, place: string): string;
  /** Undefined when it was sealed with another key, for another place, or was changed. */
  open(sealed: string, place: string): string | undefined;
}

/** AES-256-GCM with a fresh nonce per value; sealed form `v1.<nonce, tag and bytes as base64url>`. */
export function createSecretBox(key: Buffer): SecretBox {
  return {
    seal(value, place) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(place));
      const bytes = Buffer.concat([cipher.update(value, "utf8"), cipher.final()]);
      return `${VERSION}.${Buffer.concat([iv, cipher.getAuthTag(), bytes]).toString("base64url")}`;
    },
    open(sealed, place) {
      const [version, text = ""] = sealed.split(".");
      const bytes = Buffer.from(text, "base64url");
      if (version !== VERSION || bytes.length < IV_BYTES + TAG_BYTES) return undefined;
      const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(place))
        .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      try {
        const start = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES));
        return Buffer.concat([start, decipher.final()]).toString("utf8");
      } catch {
        return undefined;
      }
    },
  };
}
