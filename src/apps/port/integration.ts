import type { Readable } from "node:stream";
import type { LevelCondition, RaisedLevel } from "../../shared/wire/call-level.ts";
import type { SideEffectLevel } from "../../shared/wire/catalog.ts";
import type { JsonSchema } from "../../shared/wire/tool.ts";
import type { PreviewDraft } from "./preview.ts";
import type { Caller, KeptWrite, UndoPlan, Verdict } from "./undo.ts";

/** One connected account of an integration, as an action sees it. */
export interface ConnectionView {
  readonly id: string;
  readonly integration: string;
  /** Name given by the human, e.g. "Family drive". */
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

/** Context of `run` besides the arguments. */
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
  /**
   * State of the preview for which the call was approved: `run` acts on no other one; see `checkState`. Absent where nobody saw
   * a preview.
   */
  readonly expectedState?: string | undefined;
  /**
   * Keeps {@link KeptWrite.intent}, JSON that is on the disk when the promise resolves. A write that can be settled or undone calls
   * it as the last thing before it acts. Absent where nobody keeps it. Throws ServiceError 503 where it cannot be kept: do not act.
   */
  readonly keep?: (intent: unknown) => Promise<void>;
  /** Notes {@link KeptWrite.after}, as JSON; called once the write has acted. */
  readonly leave?: (after: unknown) => void;
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Context of `judge`: no files are there yet. */
export type JudgeContext = Pick<ActionContext, "connection" | "signal" | "now">;

/** A file of a call that is only looked at: its bytes may not be there yet. */
export interface PreviewFile extends Pick<HeldFile, "name" | "mimetype"> {
  /** In bytes; undefined where nobody knows it yet. */
  readonly size?: number | undefined;
  /** In lower-case hex; `md5` where the caller knows the bytes, `sha256` where the service has them. */
  readonly md5?: string | undefined;
  readonly sha256?: string | undefined;
  /** Undefined while the bytes are not here. */
  open?(): Readable;
}

/** Context of `preview`. */
export interface PreviewContext extends JudgeContext {
  /** What is known of the file of a file-uploadable argument; every key in the arguments resolves. */
  file(s3key: string): PreviewFile;
}

/** One thing an integration can do. */
export interface Action {
  /** The `action_id`; the tool name is `<slug>_<id>`. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly level: SideEffectLevel;
  /** True when the level is our guess, as the app's own word is not trusted. Default false. */
  readonly isLevelAssumed?: boolean;
  /**
   * Arguments with which a call does more than `level`, such as replacing or emptying something: it is decided about as one of
   * that level. Published with the action, so that devices know it, too. Default: none. See `judgeCall` of the executions.
   */
  readonly raises?: readonly LevelCondition[];
  /**
   * What a call does beyond `level` and `raises`, as far as that depends on what is there now. Only reads; arguments as those of
   * `run`, without files. Undefined: no more. Throws ServiceError for failures it can name.
   */
  judge?(args: Readonly<Record<string, unknown>>, context: JudgeContext): Promise<RaisedLevel | undefined>;
  /**
   * Says by reads alone what a call would do to what is there now, for whoever decides about it; arguments as those of `run`.
   * At most five seconds. Undefined: this account cannot tell. Throws ServiceError: a refusal that `run` would give (a status
   * below 500 that is not worth a retry) is the answer to the call, and nobody is asked; any other failure leaves the call
   * without a preview.
   */
  preview?(args: Readonly<Record<string, unknown>>, context: PreviewContext): Promise<PreviewDraft | undefined>;
  /** Plans by reads alone how a write is taken back; throws `refuseUndo` where things are not as it left them. Default: it is final. */
  undo?(kept: KeptWrite, context: JudgeContext): Promise<UndoPlan>;
  /** Finds out by reads alone whether a write whose answer was lost took effect. Default: that cannot be known. */
  settle?(kept: KeptWrite, context: JudgeContext): Promise<Verdict>;
  /** Seconds after the yes, 0 to 60, in which a human can still stop it; by the settings of the account. Default: none. */
  delay?(settings: Readonly<Record<string, unknown>>): number;
  /** True for an action that lists and searches leave out. Default false. */
  readonly isHidden?: boolean;
  /** Id of the account that follows from the arguments, before they are checked; throws ServiceError. Default: none does. */
  findConnection?(args: unknown, caller: Caller): Promise<string | undefined>;
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

/** One setting that the owner types to connect the app in the dashboard. */
export interface SettingField {
  /** Key in the connection's settings. */
  readonly name: string;
  readonly label: string;
  /**
   * `lines` is a text of several lines, such as a certificate; `folder` is an absolute path on the machine that runs the service; a `secret` is encrypted in the store and never shown;
   * `scopes` are any number of its options: their values, separated by spaces, also where that is none.
   */
  readonly kind: "text" | "lines" | "folder" | "email" | "secret" | "choice" | "scopes";
  /** Options of a `choice`, whose first one is taken unless the owner chooses another, and of `scopes`. */
  readonly options?: readonly SettingOption[] | undefined;
  /** Default true; an optional field that is left empty is left out. */
  readonly optional?: boolean | undefined;
  /** One or two sentences below the field. */
  readonly help?: string | undefined;
  /**
   * Heading under which it is folded away behind the other fields, with those of the same heading; opened where one of them is
   * in use or wrong. Default: always seen.
   */
  readonly group?: string | undefined;
  /** Needed only where a choice of the form has one of these values: folded away with any other, its group opened with them. */
  readonly with?: { readonly setting: string; readonly values: readonly string[] } | undefined;
}

/** One option of a setting. */
export interface SettingOption {
  readonly value: string;
  readonly label: string;
  /** True for one of `scopes` that is picked unless the owner takes it away. Default false. */
  readonly preselected?: boolean | undefined;
}

/** Settings that may fit, for the form of the owner. */
export interface Suggestion {
  /** Text of each setting by name. */
  readonly values: Readonly<Record<string, string>>;
  /** Where they come from and what is left to do, in one to three sentences. */
  readonly note: string;
  /** Address of a page of the provider that is needed for it. */
  readonly page?: string;
}

/** Where an account of an app is signed in. What is not said here is looked up. */
export interface SignInProvider {
  /** For people, such as "Google"; default: the host of its page. */
  readonly name?: string;
  /** Whose metadata name the addresses (RFC 8414, OpenID Connect Discovery). */
  readonly issuer?: string;
  /** An MCP server or other resource whose metadata name the issuer (RFC 9728); sent with each request (RFC 8707). */
  readonly resource?: string;
  /** Where these metadata are, as the resource said in a 401; counts on the origin of the resource only. */
  readonly resourceMetadata?: string;
  readonly authUrl?: string;
  readonly tokenUrl?: string;
  readonly deviceUrl?: string;
  readonly revokeUrl?: string;
}

/** How an account of an app is signed in (OAuth 2.0). */
export interface SignInPlan {
  readonly provider: SignInProvider;
  /** On a page of the provider with PKCE, with the client's own credentials, or by a code typed on another device. */
  readonly flow: "code" | "client" | "device";
  /** Asked for; empty: those that the metadata of the resource name, or what the provider gives by itself. */
  readonly scopes: readonly string[];
  /** Further parameters of the provider's page, such as `{ access_type: "offline" }`. */
  readonly params?: Readonly<Record<string, string>>;
  /** True when a used refresh token stays valid, so that an interrupted renewal may be repeated. Default false. */
  readonly keepsRefreshTokens?: boolean;
  /** True when addresses may be those of a private network, and without encryption. */
  readonly isPrivate: boolean;
  /** Address that the token goes to with each call. Default: the provider's `resource`. */
  readonly sentTo?: string;
  /** The settings as actions and `testSettings` take them. */
  useToken(token: AccessToken): Readonly<Record<string, unknown>>;
}

/** A token of a sign-in provider. */
export interface AccessToken {
  readonly text: string;
  /** Everything else in its answer, without other tokens. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** Something that came into an app. All of it is data from outside. */
export interface AppEvent {
  /** The same however often it is found, also when the app has numbered everything anew. */
  readonly id: string;
  /** Where it is now; a later look that knows this place leaves it out. */
  readonly place: string;
  /** When it came, in milliseconds since the epoch. */
  readonly at: number;
  /** Another text once the app has numbered everything anew. Default: it never does. */
  readonly epoch?: string | undefined;
  /** When it was made, as its maker says, in milliseconds since the epoch. */
  readonly madeAt?: number | undefined;
  /** Facts by name. */
  readonly values: Readonly<Record<string, string>>;
}

/** What a look is for. */
export interface Wanted {
  /** A search of the app, or a pattern of names. */
  readonly query: string;
  /** Folder to look in; empty for the usual one. */
  readonly folder: string;
  /** Milliseconds since the epoch: what came earlier is left out, where the app knows when something came. */
  readonly since: number;
  /** Most events in one answer. */
  readonly limit: number;
  isKnown(place: string): boolean;
}

/** Finds of a look. */
export interface Found {
  readonly events: readonly AppEvent[];
  /** True when there are more than these. */
  readonly more: boolean;
  /** Every place that is there now, where a place that becomes free may be taken by something new. */
  readonly places?: readonly string[];
}

/** Looks for what is new in an app, for the triggers of its owner. Agents do not see it. */
export interface Watch {
  readonly kind: "mail" | "file";
  /** Id of the action that reads the same: its scopes, and the rules about it, count for a look too. */
  readonly like: string;
  /** Throws ServiceError like an action; 400 for a query that cannot be read. */
  look(wanted: Wanted, context: ActionContext): Promise<Found>;
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
  /** Default: triggers cannot wait for anything here. */
  readonly watch?: Watch;
  /** Why the app is unusable, and the owner's next step; default: it can be used. */
  readonly stopped?: string;
  /** Fields of the dashboard's form, in this order; an app without settings has none. */
  readonly settingsForm?: readonly SettingField[];
  /** Above the form: which of its optional fields are needed, in one to three sentences. */
  readonly settingsHelp?: string;
  /** A setting of the form that is asked for first and alone, as the others follow from it. */
  readonly firstStep?: {
    readonly setting: string;
    /** The owner sees, and may change, what is suggested before anything is stored. Throws like `checkSettings`. */
    suggest(value: string): Promise<Suggestion>;
  };
  /** Throws ServiceError 422 `integration_misconfigured` naming the setting when a connection cannot work as configured. */
  checkSettings(settings: Readonly<Record<string, unknown>>): Promise<void>;
  /**
   * Tries the settings on the real system, for example signs in. Asked once when the owner connects, not at each call.
   * Throws like `checkSettings`.
   */
  testSettings?(settings: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<void>;
  /**
   * How these settings are signed in at a provider; undefined where they need no sign-in. The tokens are kept by the service:
   * the settings hold only the id of the sign-in. Throws ServiceError 422 naming the setting that is needed first.
   */
  findSignIn?(settings: Readonly<Record<string, unknown>>): SignInPlan | undefined;
  /** Frees sockets and timers when the service stops; no call runs by then. A later call may open them again. */
  close?(): Promise<void>;
}
