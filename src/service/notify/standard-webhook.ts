import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/*
 * Signed requests in the form of Standard Webhooks: https://www.standardwebhooks.com
 */

const PREFIX = "whsec_";
/** Bytes of a secret as the specification has it. */
const BYTES = { min: 24, max: 64, made: 32 } as const;
/** Longest difference between the time of a request and now, in milliseconds, as the specification recommends. */
const TOLERANCE_MS = 5 * 60 * 1000;
const MAX_ID = 200;
/** Signatures of one request that are looked at: a sender that changes its secret signs with both. */
const MAX_SIGNATURES = 5;

/** Makes a secret: `whsec_…`. */
export function createWebhookSecret(): string {
  return `${PREFIX}${randomBytes(BYTES.made).toString("base64")}`;
}

/** The bytes of a secret; undefined for a text that is none. */
export function readWebhookSecret(secret: string | undefined): Buffer | undefined {
  const bytes = Buffer.from(secret?.startsWith(PREFIX) ? secret.slice(PREFIX.length) : "", "base64");
  return bytes.length >= BYTES.min && bytes.length <= BYTES.max ? bytes : undefined;
}

/** The headers of a signed request; `id` is the same at every attempt, `now` in milliseconds since the epoch. */
export function signWebhook(secret: Buffer, { id, now, body }: { id: string; now: number; body: string }) {
  const timestamp = String(Math.floor(now / 1000));
  const signature = sign(secret, `${id}.${timestamp}.`, Buffer.from(body)).toString("base64");
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
}

/** The id of a request that the holder of the secret signed within the last five minutes; undefined for any other. */
export function verifyWebhook(
  secret: Buffer,
  { headers, body, now }: { headers: Headers; body: Buffer; now: number },
): string | undefined {
  const id = headers.get("webhook-id") ?? "";
  const timestamp = headers.get("webhook-timestamp") ?? "";
  if (id === "" || id.length > MAX_ID || id.includes(".") || !/^\d{1,12}$/.test(timestamp)) return undefined;
  if (Math.abs(now - Number(timestamp) * 1000) > TOLERANCE_MS) return undefined;
  const expected = sign(secret, `${id}.${timestamp}.`, body);
  const sent = (headers.get("webhook-signature") ?? "").split(" ").slice(0, MAX_SIGNATURES);
  const isSigned = sent.some((signature) => {
    const [version, text = ""] = signature.split(",");
    const bytes = Buffer.from(text, "base64");
    return version === "v1" && bytes.length === expected.length && timingSafeEqual(bytes, expected);
  });
  return isSigned ? id : undefined;
}

function sign(secret: Buffer, head: string, body: Buffer): Buffer {
  return createHmac("sha256", secret).update(head).update(body).digest();
}
