import { ServiceError } from "../../../service-error.ts";
import type { Action } from "../../integration.ts";
import { createProviderError } from "../../provider-failure.ts";
import { explainTls, nameServer, readFault, refuseSignIn } from "./connect-failure.ts";
import type { MailServer, ServerSettings } from "./server-settings.ts";

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
