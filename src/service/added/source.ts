import { z } from "zod";
import { toPlainText } from "../../card/plain-text.ts";
import { SvcError } from "../../errors.ts";
import type { ConnectionState } from "../../wire/catalog.ts";
import type { Connection } from "../connections/connection.ts";
import type { AccessTokens } from "../connections/sign-in/access-tokens.ts";
import type { AllowedHosts } from "../fetch/address-rules.ts";
import type { Integration } from "../integrations/integration.ts";
import type { ServiceLog } from "../service-error.ts";
import { jsonText } from "../store/open-store.ts";
import type { SourceRow } from "../store/schema.ts";
import { type LevelPolicy, parseLevelPolicy } from "./action-levels.ts";
import { parseContent, type SourceContent, toLine } from "./source-content.ts";

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

/** The parts of the service that an open source may use. */
export interface SourcePorts {
  readonly log: ServiceLog;
  readonly now: () => number;
  /** The owner's own hosts, which may be reached although they are not public. */
  readonly allowedHosts: AllowedHosts;
  /** The connections of an app as they are now. */
  listConnections(slug: string): Promise<readonly Connection[]>;
  /**
   * Tells the dashboard and the catalog how a connection does with these settings; one that has others by now stays as it
   * is. Never rejects.
   */
  setConnectionState(connection: Pick<Connection, "id" | "settings">, state: ConnectionState): Promise<void>;
  /** Settings with a token that lasts; see `AccessTokens.provide`. */
  readonly provide: AccessTokens["provide"];
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
function isSlug(text: string): boolean {
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

export type StoredSource = IntegrationSource | StoppedSource;

const KINDS: readonly SourceKindName[] = ["mcp", "openapi"];
const rowSchema = z.object({
  slug: z.string().refine(isSlug),
  name: z.string(),
  definition: jsonText,
  content: jsonText,
  added_at: z.string(),
});
const proposalSchema = z.object({ content: jsonText, digest: z.string(), foundAt: z.string() });

/** True for an app that {@link readSource} could not make usable. */
export function isStopped(source: StoredSource): source is StoppedSource {
  return "stopped" in source;
}

/** Reads a row, whatever state it is in. Never throws. */
export function readSource(row: SourceRow): StoredSource {
  const kind = KINDS.find((known) => known === row.kind);
  if (row.kind === "piece") return stopSource(row, RETIRED);
  if (kind === undefined) return stopSource(row, "It is of a kind that this version does not know.");
  const parsed = rowSchema.safeParse(row);
  const content = parsed.success ? parseContent(parsed.data.content) : undefined;
  const levels = parseLevelPolicy(parsed.data?.definition);
  if (!parsed.success || content === undefined || levels === undefined) return stopSource(row, DAMAGED, kind);
  const { slug, name, definition, added_at: addedAt } = parsed.data;
  const proposal = readProposal(row);
  return {
    slug,
    kind,
    name: toLine(name),
    definition,
    levels,
    content,
    proposal,
    revision: row.revision,
    addedAt,
  };
}

/** The app of a row that cannot be used, for this reason; with its kind, the way out is to add it again. */
export function stopSource(
  { slug, name, revision }: { readonly slug: string; readonly name: unknown; readonly revision: string },
  reason: string,
  kind?: SourceKindName,
): StoppedSource {
  const shown = toPlainText(slug);
  return {
    slug,
    revision,
    name: typeof name === "string" ? toLine(name) : shown,
    stopped: `${reason} ${describeWayOut(shown, kind)}`,
  };
}

/** For an app whose row or definition makes no sense. */
export const DAMAGED = "What is stored about it cannot be read.";
const RETIRED = "It is a connector of activepieces, and this version runs none of them.";

function describeWayOut(slug: string, kind: SourceKindName | undefined): string {
  if (kind !== undefined) {
    return `Add it again ("svc add ${kind} ${slug} --replace …"), or take it away ("svc remove ${slug}").`;
  }
  return `Put an MCP server or an OpenAPI document of the app in its place ("svc add mcp ${slug} --replace …", "svc add openapi ${slug} --replace …"), or take it away ("svc remove ${slug}").`;
}

/** An unreadable proposal is ignored: the app is asked for its actions again. */
function readProposal(row: SourceRow): IntegrationSource["proposal"] {
  const { proposed_content: content, proposed_digest: digest, proposed_at: foundAt } = row;
  const parsed = proposalSchema.safeParse({ content, digest, foundAt });
  if (!parsed.success) return undefined;
  const read = parseContent(parsed.data.content);
  return read && { ...parsed.data, content: read };
}
