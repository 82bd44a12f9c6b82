import { ServiceError } from "../../service/service-error.ts";

/** Parameters of a `WWW-Authenticate: Bearer` header (RFC 6750, RFC 9728). */
export interface BearerChallenge {
  readonly error?: string;
  /** Separated by spaces. */
  readonly scope?: string;
  /** Address of the metadata that name the sign-in provider. */
  readonly resource_metadata?: string;
}

/** Reads such a header; nothing for one that is missing or of another kind. */
export function readChallenge(header: string | null | undefined): BearerChallenge {
  const found = (header ?? "").matchAll(/\b(error|scope|resource_metadata)\s*=\s*(?:"([^"]*)"|([^\s",]+))/gi);
  return Object.fromEntries([...found].map(([, name = "", quoted, plain]) => [name.toLowerCase(), quoted ?? plain]));
}

const MAX_SCOPES = 50;

/** Scopes of a challenge. */
export function listScopes({ scope = "" }: BearerChallenge): string[] {
  return keepScopes(scope.split(" "));
}

/** Those that a request for a sign-in can carry (RFC 6749, 3.3), 50 at most, each once. */
export function keepScopes(scopes: readonly unknown[]): string[] {
  const isScope = (one: unknown) => typeof one === "string" && /^[!#-[\]-~]{1,200}$/.test(one);
  return [...new Set(scopes)].filter((one): one is string => isScope(one)).slice(0, MAX_SCOPES);
}

/** The refusal of a call whose sign-in lacks scopes; undefined for a challenge that says something else. */
export function refuseScopes(challenge: BearerChallenge, app: string): ServiceError | undefined {
  if (challenge.error !== "insufficient_scope") return undefined;
  const scopes = listScopes(challenge);
  const message = `${app} asks for more rights${scopes.length > 0 ? `: ${scopes.join(", ")}` : ""}.`;
  return new ServiceError(403, "needs_scope_upgrade", message, {
    type: "missing_scopes",
    details: scopes,
    hint: `The owner signs in to ${app} again: dashboard, Connections, Reconnect.`,
    extra: { missingScopes: scopes },
  });
}
