import type { Readable } from "node:stream";
import type { SideEffectLevel } from "../../wire/catalog.ts";
import type { JsonSchema } from "../../wire/tool.ts";

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
  readonly kind: "text" | "folder" | "email" | "secret" | "choice";
  /** What a `choice` offers; the first one is taken unless the owner chooses another. */
  readonly options?: readonly { readonly value: string; readonly label: string }[];
  /** Default true; an optional field that is left empty is left out. */
  readonly optional?: boolean;
  /** One or two sentences below the field. */
  readonly help?: string;
  /**
   * Heading under which it is folded away behind the other fields, with those of the same heading; opened where one of them is
   * in use or wrong. Default: always seen.
   */
  readonly group?: string;
}

/** How a client proves itself to a sign-in provider (OAuth 2.0), and where. */
export interface OAuthClient {
  readonly tokenUrl: string;
  readonly clientId: string;
  /** Undefined for a public client. */
  readonly clientSecret: string | undefined;
  readonly clientIn: "header" | "body";
  /** True when the address may be one of a private network, and without encryption. */
  readonly isPrivate: boolean;
}

/** A sign-in that lasts longer than its access tokens: the service gets new ones. */
export interface OAuthGrant extends OAuthClient {
  /** As the owner gave it; providers may replace it with each use. */
  readonly refreshToken: string;
  /** Name of the setting that holds it. */
  readonly setting: string;
  /** The settings as actions and `testSettings` take them. */
  useToken(token: AccessToken): Readonly<Record<string, unknown>>;
}

/** A sign-in on a page of the provider (OAuth 2.0, authorization code). */
export interface OAuthSignIn extends OAuthClient {
  /** The page, with scopes and whatever else belongs to the app in its query. */
  readonly authUrl: string;
  /** Whether the provider knows PKCE. */
  readonly pkce: boolean;
  /** Settings that hold what came of it. */
  readonly settings: { readonly refreshToken: string; readonly accessToken: string };
}

/** What a sign-in provider gave. */
export interface AccessToken {
  readonly text: string;
  /** Everything else in its answer, without the refresh token. */
  readonly data: Readonly<Record<string, unknown>>;
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
  /** Why nothing of the app can be used, and what its owner does about it; default: it can be used. */
  readonly stopped?: string;
  /** True when the levels of its actions are our guess, as nobody trusts its own word. Default false. */
  readonly areLevelsAssumed?: boolean;
  /** What the dashboard asks for, in this order; an app without settings has none. */
  readonly settingsForm?: readonly SettingField[];
  /** Above the form: which of its optional fields are needed, in one to three sentences. */
  readonly settingsHelp?: string;
  /** Throws ServiceError 422 `integration_misconfigured` naming the setting when a connection cannot work as configured. */
  checkSettings(settings: Readonly<Record<string, unknown>>): Promise<void>;
  /**
   * Tries the settings on the real system, for example signs in. Asked once when the owner connects, not at each call.
   * Throws like `checkSettings`.
   */
  testSettings?(settings: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<void>;
  /** The sign-in that these settings hold, whose access tokens are renewed; undefined when they need none. Checked settings. */
  findGrant?(settings: Readonly<Record<string, unknown>>): OAuthGrant | undefined;
  /**
   * The provider's page on which these settings can be signed in; undefined when there is none. Throws ServiceError 422 naming
   * the setting that is needed first.
   */
  findSignIn?(settings: Readonly<Record<string, unknown>>): OAuthSignIn | undefined;
  /** Frees sockets and timers when the service stops; no call runs by then. A later call may open them again. */
  close?(): Promise<void>;
}
