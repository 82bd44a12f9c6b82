import { refuseSetting, ServiceError } from "../../../service-error.ts";
import type { Action } from "../../integration.ts";
import { createProviderError } from "../../provider-failure.ts";
import type { MailServer, ServerSettings } from "./server-settings.ts";

const CERTIFICATE_PROBLEMS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: "is signed by itself",
  SELF_SIGNED_CERT_IN_CHAIN: "is signed by an authority that is not known here",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "is signed by an authority that is not known here",
  UNABLE_TO_GET_ISSUER_CERT: "is signed by an authority that is not known here",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "is signed by an authority that is not known here",
  CERT_HAS_EXPIRED: "has expired",
  CERT_NOT_YET_VALID: "is not valid yet",
  CERT_REVOKED: "was revoked",
  ERR_TLS_CERT_ALTNAME_INVALID: "belongs to another server name",
  HOSTNAME_MISMATCH: "belongs to another server name",
};
const OWN_AUTHORITY =
  'If it is your own server, put the certificate of its authority into the setting "ca"; encryption without a check is not offered.';

/** Any value, looked at as an error; its members are whatever the libraries put there. */
export interface MailFault {
  readonly code: string;
  readonly message: string;
  /** Reply code of an SMTP server. */
  readonly responseCode: number | undefined;
  readonly response: string | undefined;
  /** Response code of an IMAP server, e.g. `OVERQUOTA`; empty without one. */
  readonly serverCode: string;
}

/** Reads the members of an error that are known to say something. */
export function readFault(error: unknown): MailFault {
  const members = typeof error === "object" && error !== null ? (error as Readonly<Record<string, unknown>>) : {};
  const { code, message, responseCode, response, serverResponseCode } = members;
  return {
    code: typeof code === "string" ? code : "",
    message: typeof message === "string" ? message : String(error),
    responseCode: typeof responseCode === "number" ? responseCode : undefined,
    response: typeof response === "string" ? response : undefined,
    serverCode: typeof serverResponseCode === "string" ? serverResponseCode.toUpperCase() : "",
  };
}

/** What a server is called in answers, e.g. `The IMAP server mail.example.org`. */
export function nameServer({ protocol, host }: MailServer): string {
  return `The ${protocol} server ${host}`;
}

/** Why TLS with a server was not possible, as ServiceError 422 naming the setting; undefined for other failures. */
export function explainTls(error: unknown, server: MailServer): ServiceError | undefined {
  const { code, message } = readFault(error);
  const problem = CERTIFICATE_PROBLEMS[code] ?? findByText(message);
  if (problem !== undefined)
    return refuseSetting(
      server.setting,
      `names a server whose certificate ${problem} (${code || "TLS"}). ${OWN_AUTHORITY}`,
      error,
    );
  if (/STARTTLS/i.test(message) || (typeof error === "object" && error !== null && "tlsFailed" in error))
    return refuseSetting(
      server.setting,
      `names a server that does not begin encryption (STARTTLS) on port ${server.port}. Correct the port or the kind of encryption.`,
      error,
    );
  if (/^(ERR_SSL|EPROTO$)/.test(code) || /ssl routines|wrong version number/i.test(message))
    return refuseSetting(
      server.setting,
      `names a server that does not speak TLS on port ${server.port}. Correct the port or the kind of encryption.`,
      error,
    );
  return undefined;
}

/** SMTP failures carry a code of their own and only the text of what OpenSSL said. */
function findByText(message: string): string | undefined {
  if (/self[- ]signed certificate in certificate chain|unable to (verify|get local issuer)/i.test(message))
    return CERTIFICATE_PROBLEMS.SELF_SIGNED_CERT_IN_CHAIN;
  if (/self[- ]signed certificate/i.test(message)) return CERTIFICATE_PROBLEMS.DEPTH_ZERO_SELF_SIGNED_CERT;
  if (/certificate has expired/i.test(message)) return CERTIFICATE_PROBLEMS.CERT_HAS_EXPIRED;
  if (/altnames|hostname\/ip does not match/i.test(message)) return CERTIFICATE_PROBLEMS.ERR_TLS_CERT_ALTNAME_INVALID;
  return undefined;
}

/** Why no session with a server came about: nothing was asked of it yet. */
export function explainConnect(error: unknown, server: MailServer): ServiceError {
  if (error instanceof ServiceError) return error;
  const tls = explainTls(error, server);
  if (tls !== undefined) return tls;
  return createProviderError(
    { kind: "unreachable", message: readFault(error).message },
    { app: nameServer(server), action: { level: "read", idempotent: true } },
  );
}

const SIGN_IN_HINTS: Readonly<Record<ServerSettings["signIn"], string>> = {
  password: "Correct the password of the connection (many providers want an app password), then repeat the call.",
  token: "Put a new access token into the connection, then repeat the call.",
  oauth2:
    "Check that the account may use IMAP and SMTP with OAuth2, then reconnect it with a new refresh token and repeat the call.",
};

/** 401 `needs_reauth`: the server refused user and password, or the access token. */
export function refuseSignIn(
  server: MailServer,
  { signIn, said: words }: { signIn: ServerSettings["signIn"]; said: string | undefined },
): ServiceError {
  const what = signIn === "password" ? "user and password" : "the access token, which may have expired";
  const said = words?.replaceAll(/\s+/g, " ").trim().slice(0, 200);
  return new ServiceError(401, "needs_reauth", `${nameServer(server)} refused ${what}${said ? `: ${said}` : "."}`, {
    type: "auth",
    hint: SIGN_IN_HINTS[signIn],
    extra: { setting: signIn === "oauth2" ? "refreshToken" : "password" },
  });
}

/** What an IMAP server or the client library said besides the text. */
interface ImapAnswer {
  /** Response code in brackets, e.g. `OVERQUOTA`. */
  readonly code: string;
  /** `NO`, `BAD`, or empty when the server did not answer the command. */
  readonly status: string;
  readonly text: string;
  readonly isAuthFailure: boolean;
}

const GARBAGE = new Set([
  "ParserError",
  "InvalidResponse",
  "UnexpectedTag",
  "LineTooLarge",
  "LiteralTooLarge",
  "ResponseTooLarge",
  "ResponseProcessingFailed",
]);
/** Answers that say nothing about password or arguments: the server is busy or ill. */
const PASSING = new Set(["UNAVAILABLE", "INUSE", "LIMIT", "SERVERBUG", "CONTACTADMIN", "THROTTLED"]);

function readAnswer(error: unknown): ImapAnswer {
  const members = typeof error === "object" && error !== null ? (error as Readonly<Record<string, unknown>>) : {};
  const text = [members.responseText, members.response].find((one) => typeof one === "string");
  return {
    code: readFault(error).serverCode,
    status: typeof members.responseStatus === "string" ? members.responseStatus : "",
    text: typeof text === "string" ? text : readFault(error).message,
    isAuthFailure: members.authenticationFailed === true,
  };
}

/** True when the server answered a command with a refusal, so that the session can go on. */
export function isRefusal(error: unknown): boolean {
  return readAnswer(error).status !== "";
}

/** Why a sign-in failed; undefined when it was something else that failed. */
export function explainImapSignIn(error: unknown, { imap, signIn }: ServerSettings): ServiceError | undefined {
  const answer = readAnswer(error);
  if (!answer.isAuthFailure && !/authentication mechanism|login is disabled/i.test(answer.text)) return undefined;
  const action = { level: "read", idempotent: true } as const;
  if (PASSING.has(answer.code) || /temporar|try again/i.test(answer.text))
    return createProviderError(
      { kind: "status", status: 503, message: answer.text },
      { app: nameServer(imap), action },
    );
  if (answer.code === "PRIVACYREQUIRED") return explainTls({ message: "STARTTLS" }, imap);
  return refuseSignIn(imap, { signIn, said: answer.text });
}

/** Why a command failed. */
export function explainImap(
  error: unknown,
  { server, action }: { readonly server: MailServer; readonly action: Pick<Action, "level" | "idempotent"> },
): ServiceError {
  if (error instanceof ServiceError) return error;
  const { code: fault, message } = readFault(error);
  const call = { app: nameServer(server), action };
  if (GARBAGE.has(fault)) return createProviderError({ kind: "garbage", message }, call);
  const { code, status, text } = readAnswer(error);
  if (fault === "ETHROTTLE") return createProviderError({ kind: "status", status: 429, message: text }, call);
  if (status === "") return createProviderError({ kind: "lost", message }, call);
  if (code === "OVERQUOTA") return refuseFull(server, text);
  if (code === "TOOBIG" || code === "APPENDLIMIT") return refuseSize(server, text);
  if (PASSING.has(code)) return createProviderError({ kind: "status", status: 503, message: text }, call);
  const known = STATUSES[code];
  if (known !== undefined) return createProviderError({ kind: "status", status: known, message: text }, call);
  return new ServiceError(500, "provider_error", `${call.app} refused: ${text.slice(0, 300)}`, {
    type: "provider",
    cause: error,
  });
}

const STATUSES: Readonly<Record<string, number>> = {
  NONEXISTENT: 404,
  TRYCREATE: 404,
  NOPERM: 403,
  AUTHORIZATIONFAILED: 403,
  EXPIRED: 401,
  ALREADYEXISTS: 409,
  CANNOT: 400,
};

/** 422 `mailbox_full`. */
export function refuseFull(server: MailServer, said: string): ServiceError {
  return new ServiceError(
    422,
    "mailbox_full",
    `${nameServer(server)} has no space left for this account: ${said.slice(0, 200)}`,
    {
      type: "provider",
      hint: "Ask the human to free space in the mailbox, then repeat the call.",
    },
  );
}

/** 413 `message_too_large`. */
export function refuseSize(server: MailServer, said: string): ServiceError {
  return new ServiceError(
    413,
    "message_too_large",
    `The message is too large for ${nameServer(server)}: ${said.slice(0, 200)}`,
    {
      type: "validation",
      hint: "Send fewer or smaller attachments, or a link to them.",
      extra: { invalidFields: ["arguments.attachments"] },
    },
  );
}
