import { createHmac, timingSafeEqual } from "node:crypto";
import { createSecret } from "../auth/secrets.ts";
import { isRecord } from "./read-message.ts";

/** How long a client may take to answer a question. */
const REQUEST_STATE_LIFETIME_MS = 15 * 60 * 1000;

/** What one request state is good for: the same caller, the same request. */
interface StateBinding {
  readonly principalId: string;
  /** Digest of method, name and arguments. */
  readonly request: string;
}

/** A genuine request state. */
export interface OpenedState {
  /** Different for every question asked. */
  readonly id: string;
  readonly expiresAt: number;
  readonly data: unknown;
}

/**
 * Signs what the server must remember between two tries of one request. The text travels through the client, which
 * may read it but not change it, use it for another request, hand it to another caller or keep it for later.
 */
export interface RequestStates {
  seal(data: unknown, binding: StateBinding): string;
  /** Undefined when it is forged, expired or belongs to another request or caller. */
  open(text: string, binding: StateBinding): OpenedState | undefined;
}

/** Creates the signer. `secret` must be the same on every machine and survive a restart. */
export function createRequestStates({ secret, now }: { secret: string; now: () => number }): RequestStates {
  const sign = (payload: string, { principalId, request }: StateBinding) =>
    createHmac("sha256", secret).update([payload, principalId, request].join("\n")).digest();
  return {
    seal(data, binding) {
      const state: OpenedState = { id: createSecret(), expiresAt: now() + REQUEST_STATE_LIFETIME_MS, data };
      const payload = Buffer.from(JSON.stringify(state)).toString("base64url");
      return `${payload}.${sign(payload, binding).toString("base64url")}`;
    },

    open(text, binding) {
      const [payload = "", signature = "", rest] = text.split(".");
      const wanted = sign(payload, binding);
      const sent = Buffer.from(signature, "base64url");
      if (rest !== undefined || sent.length !== wanted.length || !timingSafeEqual(sent, wanted)) return undefined;
      const state: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
      return isState(state) && state.expiresAt > now() ? state : undefined;
    },
  };
}

function isState(value: unknown): value is OpenedState {
  return isRecord(value) && typeof value.id === "string" && typeof value.expiresAt === "number";
}
