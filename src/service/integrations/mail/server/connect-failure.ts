import { refuseSetting, ServiceError } from "../../../service-error.ts";
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
