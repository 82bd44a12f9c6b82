import { Readable } from "node:stream";
import type { Transporter } from "nodemailer";
import type { CustomAuthenticationContext } from "nodemailer/lib/smtp-connection/index.js";
import type { Options, SentMessageInfo } from "nodemailer/lib/smtp-transport/index.js";
import { refuseSetting, ServiceError } from "../../../service/service-error.ts";
import { parseJson } from "../../../shared/base/json.ts";
import type { Action } from "../../port/integration.ts";
import { createProviderError } from "../../port/provider-failure.ts";
import { composeMessage, type Draft, listRecipients } from "../compose-message.ts";
import {
  explainConnect,
  explainTls,
  nameServer,
  readFault,
  refuseFull,
  refuseSignIn,
  refuseSignInNow,
  refuseSize,
} from "./mail-failure.ts";
import type { MailServer, ServerSettings } from "./server-settings.ts";
import { GREETING_MS } from "./speaks-tls.ts";

const CONNECT_MS = 10_000;
/** Silence after which a connection counts as lost; less than a call may take. */
const SILENCE_MS = 45_000;

type SmtpSettings = ServerSettings & { readonly smtp: MailServer };

/** The recipients that the outgoing server accepted. */
interface Handed {
  readonly delivered: readonly string[];
  readonly notDelivered: readonly string[];
  /** Why it refused the others. */
  readonly refusals: string | undefined;
}

/** Connects to the outgoing server, and signs in where it takes a sign-in. Throws ServiceError. */
export async function trySmtp(settings: SmtpSettings, signal: AbortSignal): Promise<void> {
  try {
    await untilAbort((await createSmtp(settings)).verify(), signal);
  } catch (error) {
    signal.throwIfAborted();
    throw explainSignIn(error, settings) ?? (await explainConnect(error, settings.smtp));
  }
}

/**
 * Hands a message to the outgoing server, once. Throws ServiceError: 500 `outcome_unknown` when it may have been sent; with
 * every other one it was not.
 */
export async function sendBySmtp(
  settings: ServerSettings,
  draft: Draft,
  o: {
    readonly signal: AbortSignal;
    readonly action: Pick<Action, "level" | "idempotent">;
    /** Called before the server can see the end of the message: until then it certainly was not sent. */
    readonly onHandOver: () => void;
  },
): Promise<Handed> {
  const smtp = findSmtp(settings);
  let isHandedOver = false;
  async function* watch(): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const bytes of composeMessage(draft, false)) {
      o.signal.throwIfAborted();
      yield bytes;
    }
    o.signal.throwIfAborted();
    // The server can see the end of the message only after this.
    isHandedOver = true;
    o.onHandOver();
  }
  const raw = Readable.from(watch(), { objectMode: false });
  const envelope = { from: draft.from.address, to: listRecipients(draft), size: estimateSize(draft) };
  try {
    const transport = await createSmtp({ ...settings, smtp });
    const sent = await untilAbort(transport.sendMail({ envelope, raw }), o.signal);
    const { accepted, rejected } = sent;
    return {
      delivered: accepted.map(String),
      notDelivered: rejected.map(String),
      refusals: rejected.length === 0 ? undefined : describeRefusals(listRefusals(sent)),
    };
  } catch (error) {
    const early = isHandedOver ? undefined : (explainSignIn(error, { ...settings, smtp }) ?? explainTls(error, smtp));
    throw (
      early ?? explainSending(error, { server: smtp, signIn: settings.signIn, action: o.action, isHandedOver, draft })
    );
  } finally {
    raw.destroy();
  }
}

/** The outgoing server. Throws ServiceError 422 when there is none. */
export function findSmtp({ smtp }: ServerSettings): MailServer {
  if (smtp !== undefined) return smtp;
  throw refuseSetting("smtpHost", "is empty: this mailbox can be read, but nothing can be sent from it.");
}

async function createSmtp({
  smtp,
  user,
  signIn,
  secret,
  ca,
}: SmtpSettings): Promise<Transporter<SentMessageInfo, Options>> {
  const { createTransport } = await import("nodemailer");
  return createTransport({
    host: smtp.host,
    port: smtp.port,
    secure: smtp.security === "tls",
    requireTLS: smtp.security === "starttls",
    ignoreTLS: smtp.security === "plain",
    ...(ca === undefined ? {} : { tls: { ca } }),
    auth: signIn === "password" ? { user, pass: secret } : { type: "custom", method: "TOKEN", user, pass: secret },
    customAuth: { TOKEN: signInWithToken },
    logger: false,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: GREETING_MS,
    dnsTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
  });
}

/** Signs in with an access token: XOAUTH2, else OAUTHBEARER (RFC 7628), which the library does not know. */
async function signInWithToken({ auth, authMethods, sendCommand }: CustomAuthenticationContext): Promise<void> {
  const { user = "", pass: token = "" } = auth.credentials;
  const isOld = authMethods.includes("XOAUTH2");
  const begin = isOld ? `user=${user}` : `n,a=${user},`;
  const first = Buffer.from(`${begin}\x01auth=Bearer ${token}\x01\x01`).toString("base64");
  let answer = await sendCommand(`AUTH ${isOld ? "XOAUTH2" : "OAUTHBEARER"} ${first}`);
  let oauthError: unknown;
  if (answer.status === 334) {
    oauthError = parseJson(Buffer.from(answer.text, "base64").toString("utf8"));
    answer = await sendCommand(isOld ? "" : "AQ==");
  }
  if (answer.status !== 235) throw Object.assign(new Error(answer.text), { oauthError });
}

/** Rejects on abort; a later result or error of `work` is ignored. */
async function untilAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  work.catch(() => undefined);
  signal.throwIfAborted();
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** A lower estimate of the message's size in bytes: above the server's limit, sending is pointless. */
function estimateSize({ body, files }: Draft): number {
  return files.reduce((sum, { size }) => sum + Math.ceil(size / 3) * 4, Buffer.byteLength(body));
}

/** Undefined for failures other than the sign-in. */
function explainSignIn(error: unknown, { smtp, signIn }: SmtpSettings) {
  const { code, responseCode = 0, message } = readFault(error);
  if (code !== "EAUTH") return undefined;
  const isPassing = responseCode >= 400 && responseCode < 500;
  return isPassing ? refuseSignInNow(smtp, message) : refuseSignIn(smtp, { signIn, error });
}

/** How far a message had come when sending it failed. */
interface FailedSending {
  readonly server: MailServer;
  readonly signIn: ServerSettings["signIn"];
  readonly action: Pick<Action, "level" | "idempotent">;
  /** True once the whole message was handed over: the outcome is unknown. */
  readonly isHandedOver: boolean;
  readonly draft: Draft;
}

/**
 * Why a message was not sent. Without an answer of the server it provably was not as long as a part of it was still here
 * (503, may be sent again); afterwards 500 `outcome_unknown`.
 */
function explainSending(error: unknown, o: FailedSending): ServiceError {
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

function explainReply(status: number, said: string, { server, signIn, action }: FailedSending): ServiceError {
  const call = { app: nameServer(server), action };
  // The enhanced codes of RFC 3463, where a server gives them.
  const detail = /\b[45]\.\d{1,3}\.\d{1,3}\b/.exec(said)?.[0].slice(2);
  if (detail === "3.4" || detail === "2.3" || (status === 552 && detail !== "2.2")) return refuseSize(server, said);
  if (detail === "2.2") return refuseFull(server, said);
  if (status === 530 || status === 535) return refuseSignIn(server, { signIn, error: new Error(said) });
  if (status < 500) {
    const isLimit = /rate|too many|limit/i.test(said);
    return createProviderError({ kind: "status", status: isLimit ? 429 : 503, message: said }, call);
  }
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

/** nodemailer puts them on the answer or, when no recipient is left, on the error. */
function listRefusals(error: unknown): Refusal[] {
  if (typeof error !== "object" || error === null || !("rejectedErrors" in error)) return [];
  return Array.isArray(error.rejectedErrors) ? error.rejectedErrors.map(toRefusal) : [];
}

function toRefusal(error: unknown): Refusal {
  const { responseCode = 0, response, message } = readFault(error);
  const address = typeof error === "object" && error !== null && "recipient" in error ? String(error.recipient) : "";
  return { address, status: responseCode, said: response ?? message };
}

/** The server's words about the recipients that it refused. */
function describeRefusals(refused: readonly Refusal[]): string {
  return refused
    .map(({ address, said }) => `${address}: ${said}`)
    .join("; ")
    .slice(0, 500);
}

/** No recipient was taken: 400 naming the arguments, or 503 when all may be taken later. */
function refuseRecipients(refused: readonly Refusal[], { server, action, draft }: FailedSending): ServiceError {
  const said = describeRefusals(refused);
  if (refused.every(({ status }) => status < 500))
    return createProviderError({ kind: "status", status: 503, message: said }, { app: nameServer(server), action });
  // nodemailer writes domains in lower case.
  const addresses = new Set(refused.map(({ address }) => address.toLowerCase()));
  const invalidFields = (["to", "cc", "bcc"] as const).flatMap((field) =>
    draft[field].flatMap(({ address }, index) =>
      addresses.has(address.toLowerCase()) ? [`arguments.${field}[${index}]`] : [],
    ),
  );
  return new ServiceError(400, "recipient_refused", `${nameServer(server)} refused every recipient: ${said}`, {
    type: "validation",
    hint: "Nothing was sent. Correct the addresses.",
    extra: { invalidFields },
  });
}
