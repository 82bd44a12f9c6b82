import { z } from "zod";
import { toPlainText } from "../../wire/plain-text.ts";
import { jsonText, type SourceRow } from "../store/schema.ts";
import { type IntegrationSource, isSlug, type SourceKindName } from "./source.ts";
import { parseContent, toLine } from "./source-content.ts";

/** A stored app that this version cannot use. Its row stays until the owner replaces or removes it. */
export interface StoppedSource {
  readonly slug: string;
  /** What people call it. */
  readonly name: string;
  readonly revision: string;
  /** Why it cannot be used, and what its owner does about it: one to three sentences. */
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
  if (!parsed.success || content === undefined) return stopSource(row, DAMAGED, kind);
  const { slug, name, definition, added_at: addedAt } = parsed.data;
  const proposal = readProposal(row);
  return {
    slug,
    kind,
    name: toLine(name),
    definition,
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

/** A proposal that cannot be read is none: the app is asked again what it offers. */
function readProposal(row: SourceRow): IntegrationSource["proposal"] {
  const { proposed_content: content, proposed_digest: digest, proposed_at: foundAt } = row;
  const parsed = proposalSchema.safeParse({ content, digest, foundAt });
  if (!parsed.success) return undefined;
  const read = parseContent(parsed.data.content);
  return read && { ...parsed.data, content: read };
}
