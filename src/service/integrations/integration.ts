import type { Readable } from "node:stream";
import type { SideEffectLevel } from "../../wire/catalog.ts";
import type { JsonSchema } from "../../wire/tool.ts";

/** State of one connection, as `connection_state` on the wire. */
export type ConnectionState = "healthy" | "reauth_required" | "error";

/** One connected account of an integration, as an action sees it. */
export interface ConnectionView {
  readonly id: string;
  readonly integration: string;
  /** What the human calls it, e.g. "Family drive". */
  readonly label: string;
  /** Integration-specific settings, e.g. `{ folder }`, `{ maildir, address }`; checked by `Integration.checkSettings`. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Scopes the account granted; an action whose `scopes` are not all here answers 403. */
  readonly scopes: readonly string[];
}

/** A file the service holds for the running call. */
export interface HeldFile {
  readonly name: string;
  readonly mimetype: string;
  readonly size: number;
  readonly sha256: string;
  /** Opens the bytes; the caller consumes or destroys the stream. */
  open(): Readable;
}

/** What `run` gets besides the arguments. */
export interface ActionContext {
  readonly connection: ConnectionView;
  /** Resolves the `s3key` of a file-uploadable argument to its bytes; every key in the arguments resolves. */
  file(s3key: string): HeldFile;
  /**
   * Keeps bytes as a service file of this account and returns its storage key, so that another action can use the file.
   * Absent where the caller has no file store; an action must work without it.
   */
  readonly keepFile?: (
    file: { readonly name: string; readonly mimetype: string },
    bytes: AsyncIterable<Uint8Array>,
  ) => Promise<{ readonly s3key: string; readonly size: number }>;
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** One thing an integration can do. */
export interface Action {
  /** The `action_id`; the tool name is `<slug>_<id>`. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly level: SideEffectLevel;
  readonly requiresConfirmation: boolean;
  /** True when running it twice with equal arguments leaves the same state as once. */
  readonly idempotent: boolean;
  /** Full JSON Schema (2020-12) of the arguments, object at the root; file fields carry `file_uploadable: true`. */
  readonly inputSchema: JsonSchema;
  /** Scopes the connection must have granted. */
  readonly scopes: readonly string[];
  readonly examples?: readonly unknown[];
  readonly preconditions?: readonly string[];
  /** Shown to the human who confirms, e.g. "Who receives this message?". */
  readonly askBefore?: readonly string[];
  /** Arguments are already valid. Returns a JSON value; throws ServiceError for failures it can name. */
  run(args: Readonly<Record<string, unknown>>, context: ActionContext): Promise<unknown>;
}

/** One setting that the owner types when he connects the app in the dashboard. */
export interface SettingField {
  /** Key in the connection's settings. */
  readonly name: string;
  readonly label: string;
  /** `folder` is an absolute path on the machine that runs the service; a `secret` is encrypted in the store and never shown. */
  readonly kind: "text" | "folder" | "email" | "secret";
  /** Default true; an optional field that is left empty is left out. */
  readonly optional?: boolean;
  /** One or two sentences below the field. */
  readonly help?: string;
}

/** An app the service can act on. */
export interface Integration {
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly category: string;
  /** All scopes a full connection grants. */
  readonly scopes: readonly string[];
  readonly actions: readonly Action[];
  /** What the dashboard asks for, in this order; an app without settings has none. */
  readonly settingsForm?: readonly SettingField[];
  /** Throws ServiceError 422 `integration_misconfigured` naming the setting when a connection cannot work as configured. */
  checkSettings(settings: Readonly<Record<string, unknown>>): Promise<void>;
}
