import type { Generated, Selectable } from "kysely";
import type { ApprovalStatus } from "../../shared/wire/approval.ts";
import type { ConnectionState, SideEffectLevel } from "../../shared/wire/catalog.ts";
import type { AccessTables } from "./access-tables.ts";
import type { FlowTables } from "./flow-tables.ts";

/** Who approves a call: the device, which asks its human, or the owner in the dashboard. */
export type ApprovalMode = "device" | "owner";

/** Rights of a person: an approver decides about calls and reads the log, an owner may do everything. */
export type Role = AccessTables["people"]["role"];

/**
 * The tables. Times are ISO 8601 text in UTC, JSON is text, booleans are 0 or 1, so that every
 * dialect stores and compares them alike. Secrets are stored only as SHA-256 (hex).
 */
export interface Tables extends AccessTables, FlowTables {
  connections: {
    id: string;
    account_id: string;
    integration: string;
    label: string;
    settings: string;
    scopes: string;
    state: ConnectionState;
    is_default: number;
    created_at: string;
    updated_at: string;
  };
  executions: {
    id: string;
    account_id: string;
    api_key_id: string | null;
    /** Empty when the call was refused before a connection was chosen. */
    connection_id: string;
    integration: string;
    action_id: string;
    tool_name: string;
    side_effect_level: SideEffectLevel;
    arguments: string;
    /** `started` is written, and durable, before the provider acts; `refused` never ran. */
    status: "started" | "succeeded" | "failed" | "refused";
    output: string | null;
    error: string | null;
    started_at: string;
    finished_at: string | null;
    /** The process that runs it, or ran it. */
    node_id: string | null;
    /** Who or what let it run, JSON of `Permission`; null for a call that did not run, and before there was this column. */
    permission: Generated<string | null>;
    /** ISO 8601; null for a call that has begun to act, or ended: see `createDelays`. */
    waits_until: Generated<string | null>;
  };
  /** What writes keep so that they can be looked for and undone; see `createKeptWrites`. */
  kept_writes: {
    /** Of the execution. */
    id: string;
    /** `lost`: nobody can find out whether it took effect. */
    state: "acting" | "done" | "lost" | "undone";
    /** JSON; encrypted. */
    intent: string;
    after: string | null;
    /** Characters of `intent`. */
    bytes: number;
    kept_at: string;
  };
  /** Sign-ins of connections at providers, with their tokens; encrypted. */
  sign_ins: { id: string; integration: string; record: string; updated_at: string };
  /** Who this service is to providers: registered and own clients; encrypted. */
  provider_clients: { id: string; client_hash: string; client: string; updated_at: string };
  /** Form input of the owner, kept while they sign in at a provider or correct a form; encrypted. */
  provider_sign_ins: { state_hash: string; details: string; expires_at: string };
  /** Integrations that the owner added; JSON texts hold no secret. */
  integration_sources: {
    slug: string;
    /** See `SourceKindName`; a row of another version may have another one. */
    kind: string;
    name: string;
    definition: string;
    content: string;
    digest: string;
    proposed_content: string | null;
    proposed_digest: string | null;
    proposed_at: string | null;
    proposal_dismissed: Generated<number>;
    revision: string;
    added_at: string;
  };
  /** Processes that use this store; one whose beats stand still is dead. */
  nodes: { id: string; beats: number };
  idempotency_keys: {
    account_id: string;
    key: string;
    /** SHA-256 of integration, action and input, whose execution the key stands for. */
    input_hash: string;
    execution_id: string;
    created_at: string;
    expires_at: string;
    /** Counts the keys in the order they were taken, whatever the clock says. */
    number: Generated<number>;
  };
  /** Calls that wait for the owner, or waited. Statuses `done` and `expired` follow from the other columns. */
  approvals: {
    id: string;
    account_id: string;
    /** Id of the key, or `oauth_` and the client id. */
    api_key_id: string;
    tool_name: string;
    integration: string;
    connection_id: string;
    level: SideEffectLevel;
    /** The call as JSON; encrypted. */
    content: string;
    /** SHA-256 of caller, tool, account, arguments and files: equal for duplicates. */
    fingerprint: string;
    /** SHA-256 of the action and of the settings of the account, to notice changes. */
    tool_digest: string;
    connection_digest: string;
    /** Shape in which the caller expects the result. */
    shape: "envelope" | "summary";
    idempotency_key: string | null;
    input_hash: string | null;
    status: Exclude<ApprovalStatus, "done" | "expired">;
    requested_at: string;
    expires_at: string;
    decided_at: string | null;
    decided_by: string | null;
    /** The owner's, or why it is void, or waits again. */
    reason: string | null;
    execution_id: string | null;
    /** Counts the calls in the order in which they were asked, whatever the clock says; 0 in rows from before. */
    number: Generated<number>;
    /** The account in whose queue it stands, from the yes until its end is known there: of one queue, one runs. */
    queue: Generated<string | null>;
    /** Equal for calls that were decided together; stays with one that waits again. */
    decision: Generated<string | null>;
    /** Id of the call whose end made it wait again. */
    behind: Generated<string | null>;
    /** The fingerprint without the state that it was shown in; null for one that ended before there were states. */
    call_fingerprint: string | null;
    /** The `call_fingerprint` that it was asked with, once a person has edited it. */
    asked_fingerprint: Generated<string | null>;
    /** Name of that person. */
    edited_by: Generated<string | null>;
    /** Bytes of its files; 0 once those that were stored with it are removed, and in rows from before. */
    file_bytes: Generated<number>;
  };
  /** Held calls that a signed-in browser has opened, as they were then: only those can it decide about. */
  opened_approvals: { browser: string; approval_id: string; fingerprint: string; expires_at: string };
  /** The owner's rules about calls; the content is JSON, see `RuleContent`. */
  rules: { id: string; account_id: string; content: string; made_by: string; made_at: string };
  /** Notes that wait to be sent: one for each target and each thing that waits for the owner. */
  notes: {
    id: string;
    /** SHA-256 of the address of the target. */
    target: string;
    /** Id of an approval or a flow. */
    subject: string;
    created_at: string;
    /** The message it was last sent with, which may have arrived. */
    message_id: string | null;
  };
  /** State of the targets that notes were sent to. */
  note_targets: {
    target: string;
    message_id: string | null;
    /** The process that sends to it now. */
    leased_by: string | null;
    /** In a row, up to now. */
    failures: number;
    /** 1 when it wants no more notes. */
    is_gone: number;
    /** Why the last message failed; null when it arrived. */
    error: string | null;
    /** No message before this time. */
    next_at: string;
  };
  /** Test notes that the command line asked for; `results` is JSON. */
  note_tests: { id: string; created_at: string; node_id: string | null; results: string | null };
  /** Changes by commands on the machine, until the service has logged them; see `keepMachineChange`. */
  machine_changes: { id: string; made_at: string; content: string };
  /** Another text after each change of a watched table; see `watchTables`. One row. */
  store_mark: { id: number; mark: string };
  /** Where upkeep stands; see `advanceUpkeep`. One row. */
  upkeep: { id: number; reached_at: string; seen_at: string };
  /** Secrets the service made for itself, encrypted. */
  service_keys: { name: string; value: string; created_at: string };
  spent_ingest_tokens: { jti: string; expires_at: string };
  usage_days: { account_id: string; day: string; executions: number };
}

/** A row of `approvals`. */
export type ApprovalRow = Selectable<Tables["approvals"]>;
/** A row of `api_keys`. */
export type ApiKeyRow = Selectable<Tables["api_keys"]>;
/** A row of `bootstrap_sessions`. */
export type BootstrapRow = Selectable<Tables["bootstrap_sessions"]>;
/** A row of `connections`. */
export type ConnectionRow = Selectable<Tables["connections"]>;
/** A row of `executions`. */
export type ExecutionRow = Selectable<Tables["executions"]>;
/** A row of `kept_writes`. */
export type KeptWriteRow = Selectable<Tables["kept_writes"]>;
/** A row of `flows`. */
export type FlowRow = Selectable<Tables["flows"]>;
/** A row of `flow_steps`. */
export type FlowStepRow = Selectable<Tables["flow_steps"]>;
/** A row of `notes`. */
export type NoteRow = Selectable<Tables["notes"]>;
/** A row of `note_targets`. */
export type NoteTargetRow = Selectable<Tables["note_targets"]>;
/** A row of `passkeys`. */
export type PasskeyRow = Selectable<Tables["passkeys"]>;
/** A row of `pairing_sessions`. */
export type PairingRow = Selectable<Tables["pairing_sessions"]>;
/** A row of `triggers`. */
export type TriggerRow = Selectable<Tables["triggers"]>;
/** A row of `trigger_events`. */
export type TriggerEventRow = Selectable<Tables["trigger_events"]>;
/** One added integration. */
export type SourceRow = Selectable<Tables["integration_sources"]>;
