import { z } from "zod";
import { refuseSetting, ServiceError } from "../../../service/service-error.ts";
import { cleanText } from "../../../shared/base/text.ts";
import type { Action } from "../../port/integration.ts";
import { describeCertificate } from "../../port/network-words.ts";
import { createProviderError } from "../../port/provider-failure.ts";
import { findProvider } from "../find-servers/known-providers.ts";
import type { MailServer, ServerSettings } from "./server-settings.ts";
import { speaksTls } from "./speaks-tls.ts";

const text = z.string().catch("");
const faultSchema = z.object({
  code: text,
  message: text,
  /** Reply code of an SMTP server. */
  responseCode: z.number().optional().catch(undefined),
  /** The answer of the server in its own words; one of an IMAP server may stand in `responseText`. */
  response: z.string().optional().catch(undefined),
  responseText: z.string().optional().catch(undefined),
  /** `NO`, `BAD`, or empty when an IMAP server did not answer the command. */
  responseStatus: text,
  /** Response code of an IMAP server in capitals, e.g. `OVERQUOTA`; empty without one. */
  serverResponseCode: text.transform((code) => code.toUpperCase()),
  authenticationFailed: z.boolean().catch(false),
  /** Why an access token was refused, as the server said it in XOAUTH2 or OAUTHBEARER. */
  oauthError: z.looseObject({ status: text, scope: text, error: text }).optional().catch(undefined),
  /** The server did not begin encryption. */
  tlsFailed: z.unknown().optional(),
});

/** The members of an error of a mail library. */
type MailFault = z.output<typeof faultSchema>;

/** Reads the members of an error that are known to say something; any other value is a fault without more than a text. */
export function readFault(error: unknown): MailFault {
  const members = typeof error === "object" && error !== null ? error : { message: String(error) };
  return faultSchema.parse(members);
}

/** The name of a server in answers, e.g. `The IMAP server mail.example.org`. */
export function nameServer({ protocol, host }: MailServer): string {
  return `The ${protocol} server ${host}`;
}

const OWN_AUTHORITY =
  'If it is your own server, put the certificate of its authority into the setting "ca"; encryption without a check is not offered.';

/** Why TLS with a server was not possible, as ServiceError 422 naming the setting; undefined for other failures. */
export function explainTls(error: unknown, { setting, port }: MailServer): ServiceError | undefined {
  const { code, message, tlsFailed } = readFault(error);
  const correct = `on port ${port}. Correct the port or the kind of encryption.`;
  const refuse = (problem: string) => refuseSetting(setting, `names a server ${problem}`, error);
  const problem = describeCertificate(`${code} ${message}`);
  if (problem !== undefined) return refuse(`whose certificate ${problem}. ${OWN_AUTHORITY}`);
  if (/STARTTLS/i.test(message) || tlsFailed !== undefined)
    return refuse(`that does not begin encryption (STARTTLS) ${correct}`);
  if (/^(ERR_SSL|EPROTO$)/.test(code) || /ssl routines|wrong version number/i.test(message))
    return refuse(`that does not speak TLS ${correct}`);
  return undefined;
}

function expectTls({ protocol, port }: MailServer, cause: unknown): ServiceError {
  const setting = protocol === "IMAP" ? "imapSecurity" : "smtpSecurity";
  const problem = `does not fit: on port ${port} the server speaks TLS from the first byte. Choose "TLS".`;
  return refuseSetting(setting, problem, cause);
}

const READ = { level: "read", idempotent: true } as const;

/** Why no session with a server came about: nothing was asked of it yet. Asks a silent one whether it waits for TLS. */
export async function explainConnect(error: unknown, server: MailServer): Promise<ServiceError> {
  if (error instanceof ServiceError) return error;
  const { code, message } = readFault(error);
  const isSilent = server.security !== "tls" && /greeting/i.test(`${code} ${message}`);
  if (isSilent && (await speaksTls(server))) return expectTls(server, error);
  const call = { app: nameServer(server), action: READ };
  return explainTls(error, server) ?? createProviderError({ kind: "unreachable", message }, call);
}

/** 503 `provider_unavailable` for a server that takes no sign-in at the moment. */
export function refuseSignInNow(server: MailServer, message: string): ServiceError {
  return createProviderError({ kind: "status", status: 503, message }, { app: nameServer(server), action: READ });
}

const SIGN_IN_HINTS = {
  password:
    "The owner corrects the password of the connection (many providers want an app password), then repeat the call.",
  token: "The owner puts a new access token into the connection, then repeat the call.",
  renewed: "The owner signs in again: dashboard, Connections, Reconnect. Then repeat the call.",
} as const;

/** 401 `needs_reauth`: the server refused user and password, or the access token. */
export function refuseSignIn(
  server: MailServer,
  { signIn, error }: { readonly signIn: ServerSettings["signIn"]; readonly error: unknown },
): ServiceError {
  const kind = signIn === "password" || signIn === "token" ? signIn : "renewed";
  const refused = kind === "password" ? "user and password" : "the access token";
  const { oauthError: why, ...fault } = readFault(error);
  const scope = why?.scope ? `it wants the scope ${why.scope}` : "";
  const detail = [why?.error || why?.status, scope].filter(Boolean).join(", ");
  const words = wordsOf(fault).trim().replace(/[.:]$/, "");
  const said = cleanText(detail === "" ? words : `${words} (${detail})`, 300);
  const message = `${nameServer(server)} refused ${refused}${said === null ? "" : `: ${said}`}.`;
  return new ServiceError(401, "needs_reauth", `${message} ${advise(server, kind, words)}`.trim(), {
    type: "auth",
    hint: SIGN_IN_HINTS[kind],
    extra: { setting: kind === "renewed" ? "signIn" : "password" },
  });
}

/** The next step after a refusal, where the provider of the server, or its words, tell it. */
function advise({ host }: MailServer, kind: keyof typeof SIGN_IN_HINTS, words: string): string {
  const { name, signIn, page } = findProvider({ server: host }) ?? {};
  if (kind === "password" && signIn === "microsoft") return 'It takes no passwords: choose "Sign in at Microsoft".';
  if (/\b(?:imap|smtp).*(?:disabled|not enabled)|not enabled for (?:imap|smtp)/i.test(words))
    return "The settings of the account have to allow IMAP and SMTP first.";
  if (kind === "token") return "It may have expired.";
  if (kind === "renewed") return "Check that you signed in as this user, and that the account may use IMAP and SMTP.";
  if (page !== undefined) return `${name} wants an app password, not the password of the account: ${page}`;
  return /app(?:lication)?[- ](?:specific )?password/i.test(words)
    ? "Make an app password in the settings of the account, and use it here."
    : "";
}

/** Errors of the IMAP library about an answer that makes no sense. */
const GARBAGE =
  /^(ParserError|InvalidResponse|UnexpectedTag|(Line|Literal|Response)TooLarge|ResponseProcessingFailed)$/;
/** HTTP statuses that say the same as a response code. For 503 the server is busy or ill: password and arguments are fine. */
const STATUSES: readonly (readonly [codes: RegExp, status: number])[] = [
  [/^(UNAVAILABLE|INUSE|LIMIT|SERVERBUG|CONTACTADMIN|THROTTLED)$/, 503],
  [/^(NONEXISTENT|TRYCREATE)$/, 404],
  [/^(NOPERM|AUTHORIZATIONFAILED)$/, 403],
  [/^EXPIRED$/, 401],
  [/^ALREADYEXISTS$/, 409],
  [/^CANNOT$/, 400],
];

function findStatus(code: string): number | undefined {
  return STATUSES.find(([codes]) => codes.test(code))?.[1];
}

function wordsOf({
  responseText,
  response,
  message,
}: Pick<MailFault, "responseText" | "response" | "message">): string {
  return responseText ?? response ?? message;
}

/** True when an IMAP server answered a command with a refusal, so that the session can go on. */
export function isRefusal(error: unknown): boolean {
  return readFault(error).responseStatus !== "";
}

const NO_TOKENS = new Error("it offers neither XOAUTH2 nor OAUTHBEARER");

/** Why a sign-in failed; undefined when it was something else that failed. */
export function explainImapSignIn(error: unknown, { imap, signIn }: ServerSettings): ServiceError | undefined {
  const fault = readFault(error);
  const said = wordsOf(fault);
  const isUnsupported = /authentication mechanism|login is disabled/i.test(said);
  if (!fault.authenticationFailed && !isUnsupported) return undefined;
  if (findStatus(fault.serverResponseCode) === 503 || /temporar|try again/i.test(said))
    return refuseSignInNow(imap, said);
  if (fault.serverResponseCode === "PRIVACYREQUIRED") return explainTls({ message: "STARTTLS" }, imap);
  return refuseSignIn(imap, { signIn, error: isUnsupported && signIn !== "password" ? NO_TOKENS : error });
}

/** Why a command failed. */
export function explainImap(
  error: unknown,
  { server, action }: { readonly server: MailServer; readonly action: Pick<Action, "level" | "idempotent"> },
): ServiceError {
  if (error instanceof ServiceError) return error;
  const fault = readFault(error);
  const { message, serverResponseCode: code } = fault;
  const said = wordsOf(fault);
  const call = { app: nameServer(server), action };
  if (GARBAGE.test(fault.code)) return createProviderError({ kind: "garbage", message }, call);
  const isThrottled = fault.code === "ETHROTTLE";
  if (fault.responseStatus === "" && !isThrottled) return createProviderError({ kind: "lost", message }, call);
  if (code === "OVERQUOTA") return refuseFull(server, said);
  if (code === "TOOBIG" || code === "APPENDLIMIT") return refuseSize(server, said);
  const status = isThrottled ? 429 : findStatus(code);
  if (status !== undefined) return createProviderError({ kind: "status", status, message: said }, call);
  return new ServiceError(500, "provider_error", `${call.app} refused: ${said.slice(0, 300)}`, {
    type: "provider",
    cause: error,
  });
}

/** 422 `mailbox_full`. */
export function refuseFull(server: MailServer, said: string): ServiceError {
  const message = `${nameServer(server)} has no space left for this account: ${said.slice(0, 200)}`;
  const hint = "Ask the human to free space in the mailbox, then repeat the call.";
  return new ServiceError(422, "mailbox_full", message, { type: "provider", hint });
}

/** 413 `message_too_large`. */
export function refuseSize(server: MailServer, said: string): ServiceError {
  const message = `The message is too large for ${nameServer(server)}: ${said.slice(0, 200)}`;
  return new ServiceError(413, "message_too_large", message, {
    type: "validation",
    hint: "Send fewer or smaller attachments, or a link to them.",
    extra: { invalidFields: ["arguments.attachments"] },
  });
}
