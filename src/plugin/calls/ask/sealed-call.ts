import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { z } from "zod";
import { holdsInexact, parseExactly, toDoubles } from "../../../shared/base/exact-number.ts";
import type { StateFile } from "../journal/journal.ts";
import type { ToolCall } from "../pipeline.ts";
import type { ApprovalDecision, ApprovalRequest } from "./request.ts";

/** A call that waits for its human outside this process. */
export interface SealedCall {
  readonly call: Pick<ToolCall, "callId" | "toolName" | "arguments" | "connectionId" | "connections" | "approvalTtlMs">;
  /** The question that is open. */
  readonly request?: ApprovalRequest;
  /** With it: stamp of the last failure on the account when it was put; "" for none. */
  readonly after?: string | undefined;
  /** Answers to the questions before it. */
  readonly answers: readonly ApprovalDecision[];
}

/** Turns waiting calls into text that a host keeps, and back. */
export interface CallSeal {
  seal(call: SealedCall): Promise<string>;
  /** Undefined for a text that this service, key and state folder did not give, or that was changed. */
  open(text: string): Promise<SealedCall | undefined>;
}

const PREFIX = "svc1";
const SECRET_BYTES = 32;
/** What a text may unfold to. Requests with more are refused by every service. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * The seal of one state folder, whose secret lies in its state file; without one it lasts as long as the process. The
 * journal that keeps a call from being made twice lies there too, so that no other folder takes the text.
 */
export function createCallSeal(state: StateFile | undefined, principal: string): CallSeal {
  let secret: Promise<Uint8Array> | undefined;
  const sign = async (body: string) => {
    secret ??= readSecret(state);
    return createHmac("sha256", await secret)
      .update(`${PREFIX}.${body}`)
      .digest();
  };
  return {
    async seal(call) {
      // Digits that a runtime has cut off do not come back.
      const isRounded = holdsInexact(call.call.arguments);
      const body = deflateRawSync(JSON.stringify({ principal, isRounded, ...call })).toString("base64url");
      return `${PREFIX}.${body}.${(await sign(body)).toString("base64url")}`;
    },
    async open(text) {
      const [prefix, body = "", signature = "", ...rest] = text.split(".");
      const [given, expected] = [Buffer.from(signature, "base64url"), await sign(body)];
      if (prefix !== PREFIX || rest.length > 0 || given.length !== expected.length) return undefined;
      if (!timingSafeEqual(given, expected)) return undefined;
      const json = inflateRawSync(Buffer.from(body, "base64url"), { maxOutputLength: MAX_BYTES }).toString();
      // Written by the function above: nobody else has the secret.
      const { principal: owner, isRounded, ...sealed } = parseExactly(json) as Written;
      if (owner !== principal) return undefined;
      const { call } = sealed;
      return isRounded ? { ...sealed, call: { ...call, arguments: toDoubles(call.arguments) } } : sealed;
    },
  };
}

/** A call as it is written down. */
type Written = SealedCall & { readonly principal: string; readonly isRounded: boolean };

async function readSecret(state: StateFile | undefined): Promise<Uint8Array> {
  const fresh = randomBytes(SECRET_BYTES);
  if (state === undefined) return fresh;
  const add = state.prepare("INSERT OR IGNORE INTO secrets VALUES ('calls', ?)");
  await state.change(() => void add.run(fresh));
  return z.instanceof(Uint8Array).parse(state.prepare("SELECT value FROM secrets WHERE name = 'calls'").get()?.value);
}
