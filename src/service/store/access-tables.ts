import type { Generated } from "kysely";
import type { BootstrapStatus, PairStatus } from "../../shared/wire/registration.ts";

/** Tables of who may come in: people, keys, devices and their sessions. See `Tables`. */
export interface AccessTables {
  accounts: {
    id: string;
    created_at: string;
    /** When an owner put away the list of first steps. */
    first_steps_hidden_at: Generated<string | null>;
  };
  api_keys: {
    id: string;
    account_id: string;
    key_hash: string;
    /** Last four characters, to recognise a key by. */
    last_four: string;
    label: string;
    client: string | null;
    created_at: string;
    last_used_at: string | null;
    revoked_at: string | null;
  };
  /** People who may sign in; the first one is made with the account. */
  people: {
    id: string;
    account_id: string;
    /** Stands in the log; of those who are not removed, each has another. */
    name: string;
    /** An approver decides about calls and reads the log, an owner may do everything. */
    role: "owner" | "approver";
    invited_at: string;
    /** When they first signed in. */
    joined_at: string | null;
    removed_at: string | null;
  };
  sign_in_links: {
    link_hash: string;
    person_id: string;
    created_at: string;
    expires_at: string;
    used_at: string | null;
  };
  owner_sessions: {
    session_hash: string;
    /** Public; the secret of the session cannot be made from it. */
    id: string;
    person_id: string;
    /** The passkey that signed it in; null after a link. */
    passkey_id: string | null;
    /** Browser and system, for people. */
    browser: string;
    /** Network address that it signed in from; null where nothing told it. */
    address: string | null;
    created_at: string;
    last_seen_at: string;
    expires_at: string;
  };
  /** Passkeys that people sign in with. */
  passkeys: {
    id: string;
    person_id: string;
    /** As the browser names it, base64url. */
    credential_id: string;
    /** COSE key, base64url. */
    public_key: string;
    /** Uses that the device has counted, in digits; some devices always say 0. */
    counter: string;
    /** Host name that it works for. */
    rp_id: string;
    /** Given by the person. */
    name: string;
    created_at: string;
    last_used_at: string | null;
  };
  /** Challenges of passkeys that were answered: each counts once. */
  spent_challenges: { challenge_hash: string; expires_at: string };
  pairing_sessions: {
    token_hash: string;
    verifier_hash: string;
    display_code: string;
    device_label: string | null;
    client: string | null;
    /** Never `expired`: that follows from `expires_at`. */
    status: Exclude<PairStatus, "expired">;
    wrong_verifiers: number;
    /** Requested limits; once approved, the granted ones. See `KeyScopes`. */
    scopes: string | null;
    /** The account whose owner approved. */
    account_id: string | null;
    created_at: string;
    expires_at: string;
    decided_at: string | null;
    exchanged_at: string | null;
    /** When the owner first saw it. */
    opened_at: Generated<string | null>;
  };
  bootstrap_sessions: {
    /** Public; neither address of the session can be made from it. */
    id: string;
    approval_hash: string;
    poll_hash: string;
    display_code: string;
    /** As in `pairing_sessions`. */
    scopes: string | null;
    client_label: string | null;
    hostname: string | null;
    platform: string | null;
    agent: string | null;
    /** Network address of the caller. */
    address: string;
    /** Never `expired`: that follows from `expires_at`. */
    status: Exclude<BootstrapStatus, "expired">;
    /** The account whose owner approved. */
    account_id: string | null;
    created_at: string;
    expires_at: string;
    decided_at: string | null;
    /** When the owner first saw it. */
    opened_at: Generated<string | null>;
  };
  /** Rights of a key or OAuth client: see `KeyScopes`. Without a row, all. */
  grants: {
    /** Id of the key, `oauth_` and the client id, or the hash of a session whose key is not made yet. */
    subject: string;
    scopes: string;
    expires_at: string | null;
  };
  oauth_records: {
    /** What it is, in the words of the OAuth library: `Client`, `Grant`, `AuthorizationCode`, `RefreshToken`, … */
    model: string;
    id_hash: string;
    /** The approval it came from. */
    grant_id: string | null;
    /** Second, public name of a `Session`. */
    session_uid: string | null;
    payload: string;
    /** Seconds since the epoch, at first use. */
    consumed_at: number | null;
    created_at: string;
    expires_at: string | null;
    /** When the owner first saw it. */
    opened_at: Generated<string | null>;
  };
}
