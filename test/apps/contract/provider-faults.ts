/** What a provider can be made to do instead of answering. */
export type ProviderFault =
  | "refuses the credentials"
  | "forbids it"
  | "does not know it"
  | "has a conflict"
  | "refuses the arguments"
  | "is asked too often"
  | "fails"
  | "is overloaded"
  | "answers garbage"
  | "breaks the connection"
  | "never answers"
  | "is down";

/** Seconds a provider names when it is asked too often. */
export const RETRY_AFTER_SECONDS = 7;

/** What the service answers to a read and to a write, and how the connection is afterwards. */
export interface DocumentedAnswer {
  /** Status, `error.code`, and "again" where a repetition is safe. */
  readonly read: string;
  readonly write: string;
  readonly state: "healthy" | "reauth_required";
}

/** The document's codes for each fault; a write of which nobody knows whether it took effect says so. */
export const DOCUMENTED_ANSWERS: Readonly<Record<ProviderFault, DocumentedAnswer>> = {
  "refuses the credentials": { read: "401 needs_reauth", write: "401 needs_reauth", state: "reauth_required" },
  "forbids it": { read: "403 forbidden", write: "403 forbidden", state: "healthy" },
  "does not know it": { read: "404 not_found", write: "404 not_found", state: "healthy" },
  "has a conflict": { read: "409 conflict", write: "409 conflict", state: "healthy" },
  "refuses the arguments": { read: "400 invalid_arguments", write: "400 invalid_arguments", state: "healthy" },
  "is asked too often": { read: "429 rate_limited again", write: "429 rate_limited again", state: "healthy" },
  fails: { read: "503 provider_unavailable again", write: "500 outcome_unknown", state: "healthy" },
  "is overloaded": {
    read: "503 provider_unavailable again",
    write: "503 provider_unavailable again",
    state: "healthy",
  },
  "answers garbage": { read: "500 provider_error", write: "500 outcome_unknown", state: "healthy" },
  "breaks the connection": { read: "503 provider_unavailable again", write: "500 outcome_unknown", state: "healthy" },
  "never answers": { read: "503 timeout again", write: "503 timeout", state: "healthy" },
  "is down": {
    read: "503 provider_unavailable again",
    write: "503 provider_unavailable again",
    state: "healthy",
  },
};
