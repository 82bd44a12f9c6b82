import { pairStartRequestSchema } from "../../wire/registration.ts";
import { ServiceError } from "../service-error.ts";

/** Longest device label and client name, in characters; longer ones are cut. */
const MAX_LABEL = 80;
const MAX_CLIENT = 40;

/**
 * Reads the optional body of a pairing start. Control and direction characters are removed: the label is shown
 * to the human who decides, and must not be able to rewrite what stands around it.
 *
 * @throws ServiceError 400, bare.
 */
export function readDevice(body: unknown): { deviceLabel: string | null; client: string | null } {
  const read = pairStartRequestSchema.safeParse(body);
  if (!read.success) {
    throw new ServiceError(400, "invalid_body", "`deviceLabel` and `client`, when sent, must be strings.", {
      bare: true,
    });
  }
  return { deviceLabel: clean(read.data.deviceLabel, MAX_LABEL), client: clean(read.data.client, MAX_CLIENT) };
}

function clean(text: string | undefined, longest: number): string | null {
  const plain = (text ?? "")
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
  return [...plain].slice(0, longest).join("").trim() || null;
}
