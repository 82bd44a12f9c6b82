import type { AllowedHosts } from "../../service/fetch/address-rules.ts";
import type { ServiceLog } from "../../service/service-error.ts";
import { SvcError } from "../../shared/errors.ts";
import type { ConnectionState } from "../../shared/wire/catalog.ts";
import type { LevelPolicy } from "./action-levels.ts";
import type { ConnectionView, Integration } from "./integration.ts";
import type { SourceContent } from "./source-content.ts";

/** Where an integration that the owner added comes from. */
export type SourceKindName = "mcp" | "openapi";

/** One integration that the owner added, as it is stored. */
export interface IntegrationSource {
  readonly slug: string;
  readonly kind: SourceKindName;
  /** Display name. */
  readonly name: string;
  /** How to reach it, as the owner gave it: JSON, without secrets; the kind checks it when it opens the source. */
  readonly definition: unknown;
  /** A part of the definition. */
  readonly levels: LevelPolicy;
  /** The content the owner agreed to. */
  readonly content: SourceContent;
  /** Found later and not agreed to yet; the agreed content stays in use meanwhile. */
  readonly proposal: { readonly content: SourceContent; readonly digest: string; readonly foundAt: string } | undefined;
  /** New with each change of this row. */
  readonly revision: string;
  readonly addedAt: string;
}

/** What is stored when a source is added or replaced. */
export type NewSource = Omit<IntegrationSource, "levels" | "proposal" | "revision" | "addedAt">;

/** The parts of the service that an open source may use. */
export interface SourcePorts {
  readonly log: ServiceLog;
  readonly now: () => number;
  /** The owner's own hosts, which may be reached although they are not public. */
  readonly allowedHosts: AllowedHosts;
  /** The connections of an app as they are now. */
  listConnections(slug: string): Promise<readonly (ConnectionView & { readonly state: ConnectionState })[]>;
  /**
   * Tells the dashboard and the catalog how a connection does with these settings; one that has others by now stays as it
   * is. Never rejects.
   */
  setConnectionState(connection: Pick<ConnectionView, "id" | "settings">, state: ConnectionState): Promise<void>;
  /**
   * Settings with a token that lasts; those of another sign-in as they are.
   *
   * @throws ServiceError 401 `needs_reauth` when the sign-in has ended; 503, 429 when its provider cannot be asked.
   */
  provide(
    app: Pick<Integration, "slug" | "name" | "findSignIn">,
    settings: ConnectionView["settings"],
  ): Promise<{ readonly settings: ConnectionView["settings"] }>;
  /** Proposes changed actions to the owner; content that is used or proposed already is ignored. Never rejects. */
  propose(slug: string, content: SourceContent): Promise<void>;
}

/** A source in use. */
export interface OpenSource {
  readonly integration: Integration;
  /** Lets calls under way end, for at most a few seconds, then frees processes and sockets. */
  close(): Promise<void>;
}

/** One kind of source. Its module is loaded when the first source of the kind is opened. */
export interface SourceKind {
  /**
   * Makes an integration of what is stored. Reads no network and starts no process: what is down must not keep the
   * service from starting. Throws ServiceError for a definition it cannot read.
   */
  open(source: IntegrationSource, ports: SourcePorts): Promise<OpenSource>;
}

/** No underscore: the tool name `<slug>_<action>` then belongs to one slug only. */
const SLUG = /^[a-z][a-z0-9-]{0,30}$/;

/** True for a text that can be the short name of an app. */
export function isSlug(text: string): boolean {
  return SLUG.test(text);
}

/**
 * @param taken slugs in use, built-in ones included, without the one that is replaced.
 * @throws SvcError `invalid_config`, field `slug`, saying which form a slug has, or which app it is too close to.
 */
export function checkSlug(slug: string, taken: Iterable<string>): void {
  if (!isSlug(slug)) {
    const hint = "Use 1 to 31 small letters, digits and hyphens, beginning with a letter.";
    throw invalid(`"${slug}" cannot be the short name of an app.`, hint);
  }
  for (const other of taken) {
    if (loosen(other) !== loosen(slug)) continue;
    throw invalid(`There is already an app "${other}".`, "Choose another short name, or remove that app first.");
  }
}

function invalid(message: string, hint: string): SvcError {
  return new SvcError("invalid_config", message, { field: "slug", hint });
}

/** Callers may write hyphens, underscores and spaces as they like. */
function loosen(slug: string): string {
  return slug.toLowerCase().replaceAll(/[-_\s]+/g, "");
}

/** A stored app that this version cannot use. Its row stays until the owner replaces or removes it. */
export interface StoppedSource {
  readonly slug: string;
  /** Display name. */
  readonly name: string;
  readonly revision: string;
  /** Why it cannot be used, and the owner's next step: one to three sentences. */
  readonly stopped: string;
}

/** An app that the owner added: usable by this version, or stopped. */
export type StoredSource = IntegrationSource | StoppedSource;

/** True for an app that the service could not make usable. */
export function isStopped(source: StoredSource): source is StoppedSource {
  return "stopped" in source;
}
