import { z } from "zod";
import { parseLevelPolicy } from "../../apps/port/action-levels.ts";
import {
  type IntegrationSource,
  isSlug,
  type SourceKindName,
  type StoppedSource,
  type StoredSource,
} from "../../apps/port/source.ts";
import { parseContent, toLine } from "../../apps/port/source-content.ts";
import { toPlainText } from "../../shared/card/plain-text.ts";
import { jsonText } from "../store/open-store.ts";
import type { SourceRow } from "../store/schema.ts";

const KINDS: readonly SourceKindName[] = ["mcp", "openapi"];
const rowSchema = z.object({
  slug: z.string().refine(isSlug),
  name: z.string(),
  definition: jsonText,
  content: jsonText,
  added_at: z.string(),
});
const proposalSchema = z.object({ content: jsonText, digest: z.string(), foundAt: z.string() });

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
