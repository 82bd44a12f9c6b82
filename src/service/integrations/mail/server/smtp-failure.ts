import { ServiceError } from "../../../service-error.ts";
import type { Action } from "../../integration.ts";
import { createProviderError } from "../../provider-failure.ts";
import { nameServer, readFault, refuseSignIn } from "./connect-failure.ts";
import { refuseFull, refuseSize } from "./imap-failure.ts";
import type { MailServer } from "./server-settings.ts";

/** How far a message had come when sending it failed. */
interface FailedSending {
  readonly server: MailServer;
  readonly action: Pick<Action, "level" | "idempotent">;
  /** True from the moment on at which the whole message was handed over: only the server knows what became of it. */
  readonly isHandedOver: boolean;
  readonly recipients: {
    readonly to: readonly string[];
    readonly cc: readonly string[];
    readonly bcc: readonly string[];
  };
}

/**
 * Why a message was not sent. Without an answer of the server it provably was not as long as a part of it was still here
 * (503, may be sent again); afterwards 500 `outcome_unknown`.
 */
export function explainSending(error: unknown, o: FailedSending): ServiceError {
  if (error instanceof ServiceError) return error;
  const { code, message, responseCode, response = message } = readFault(error);
  const call = { app: nameServer(o.server), action: o.action };
  const refused = listRefusals(error);
  if (refused.length > 0) return refuseRecipients(refused, o);
  if (code === "EMESSAGE" && responseCode === undefined && !o.isHandedOver) return refuseSize(o.server, message);
  if (responseCode !== undefined && responseCode >= 400) return explainReply(responseCode, response, o);
  if (!o.isHandedOver)
    return createProviderError({ kind: "unreachable", message: `${message} (nothing was sent)` }, call);
  const kind = code === "EMESSAGE" || code === "EPROTOCOL" ? "garbage" : "lost";
  return createProviderError({ kind, message }, call);
}

function explainReply(status: number, said: string, { server, action }: FailedSending): ServiceError {
  const call = { app: nameServer(server), action };
  // The enhanced codes of RFC 3463, where a server gives them.
  const detail = /\b[45]\.\d{1,3}\.\d{1,3}\b/.exec(said)?.[0].slice(2);
  if (detail === "3.4" || detail === "2.3" || (status === 552 && detail !== "2.2")) return refuseSize(server, said);
  if (detail === "2.2") return refuseFull(server, said);
  if (status === 530 || status === 535) return refuseSignIn(server, { signIn: "password", said });
  if (status < 500 && /rate|too many|limit/i.test(said))
    return createProviderError({ kind: "status", status: 429, message: said }, call);
  if (status < 500) return createProviderError({ kind: "status", status: 503, message: said }, call);
  return new ServiceError(422, "message_refused", `${call.app} did not take the message: ${said.slice(0, 300)}`, {
    type: "provider",
    hint: "It was not sent. Correct what the server names, or ask the human.",
  });
}

interface Refusal {
  readonly address: string;
  readonly status: number;
  readonly said: string;
}

function listRefusals(error: unknown): Refusal[] {
  if (typeof error !== "object" || error === null || !("rejectedErrors" in error)) return [];
  return Array.isArray(error.rejectedErrors) ? error.rejectedErrors.map(toRefusal) : [];
}

function toRefusal(error: unknown): Refusal {
  const { responseCode = 0, response, message } = readFault(error);
  const address = typeof error === "object" && error !== null && "recipient" in error ? String(error.recipient) : "";
  return { address, status: responseCode, said: response ?? message };
}

/** What the server said about the recipients it did not take, one after another. */
export function describeRefusals(errors: readonly unknown[] | undefined): string {
  return (errors ?? [])
    .map(toRefusal)
    .map(({ address, said }) => `${address}: ${said}`)
    .join("; ")
    .slice(0, 500);
}

/** No recipient was taken: 400 naming the arguments, or 503 when all may be taken later. */
function refuseRecipients(refused: readonly Refusal[], { server, action, recipients }: FailedSending): ServiceError {
  const said = refused
    .map((one) => `${one.address}: ${one.said}`)
    .join("; ")
    .slice(0, 500);
  if (refused.every(({ status }) => status < 500))
    return createProviderError({ kind: "status", status: 503, message: said }, { app: nameServer(server), action });
  const addresses = new Set(refused.map(({ address }) => address));
  const invalidFields = (["to", "cc", "bcc"] as const).flatMap((field) =>
    recipients[field].flatMap((address, index) => (addresses.has(address) ? [`arguments.${field}[${index}]`] : [])),
  );
  return new ServiceError(400, "recipient_refused", `${nameServer(server)} refused every recipient: ${said}`, {
    type: "validation",
    hint: "Nothing was sent. Correct the addresses.",
    extra: { invalidFields },
  });
}
