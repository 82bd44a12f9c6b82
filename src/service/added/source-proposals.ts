import { createId } from "../auth/secrets.ts";
import type { Store } from "../store/open-store.ts";
import { isStopped, type StoredSource } from "./read-source.ts";
import type { IntegrationSource } from "./source.ts";
import { compareContents, digestContent, type SourceContent } from "./source-content.ts";

/** Changed actions that wait for the owner. */
export interface SourceProposals {
  /**
   * Keeps changed actions until the owner decides. False when they are what is used or proposed already; what is used
   * drops an older proposal, as its origin has changed back.
   */
  propose(slug: string, content: SourceContent): Promise<boolean>;
  /** Takes a proposal over, if it still has this digest. */
  accept(slug: string, digest: string): Promise<boolean>;
  /** Asks no more about a proposal, if it still has this digest; it can still be accepted. Another one is asked about. */
  dismiss(slug: string, digest: string): Promise<boolean>;
}

/** The columns of a source that nothing is proposed for. */
export const NOTHING_PROPOSED = {
  proposed_content: null,
  proposed_digest: null,
  proposed_at: null,
  proposal_dismissed: 0,
};

/** Opens the proposals of a store; `find` reads a source of it. */
export function createSourceProposals(
  store: Store,
  { at, find }: { at: () => string; find: (slug: string) => Promise<StoredSource | undefined> },
): SourceProposals {
  /** Also one that cannot be read. */
  async function drop(slug: string): Promise<void> {
    await store
      .updateTable("integration_sources")
      .set(NOTHING_PROPOSED)
      .where("slug", "=", slug)
      .where("proposed_digest", "is not", null)
      .execute();
  }

  return {
    async propose(slug, content) {
      const digest = digestContent(content);
      const source = await find(slug);
      if (source === undefined || isStopped(source)) return false;
      const isAgreed = digestContent(source.content) === digest;
      if (isAgreed || source.proposal === undefined) await drop(slug);
      if (isAgreed) return false;
      const result = await store
        .updateTable("integration_sources")
        .set({
          proposed_content: JSON.stringify(content),
          proposed_digest: digest,
          proposed_at: at(),
          proposal_dismissed: 0,
        })
        .where("slug", "=", slug)
        .where("revision", "=", source.revision)
        .where((e) => e.or([e("proposed_digest", "is", null), e("proposed_digest", "!=", digest)]))
        .executeTakeFirst();
      return result.numUpdatedRows > 0n;
    },

    async accept(slug, digest) {
      const source = await find(slug);
      if (source === undefined || isStopped(source) || source.proposal?.digest !== digest) return false;
      const { content } = source.proposal;
      const result = await store
        .updateTable("integration_sources")
        .set({
          content: JSON.stringify(content),
          digest: digestContent(content),
          ...NOTHING_PROPOSED,
          revision: createId("rev"),
        })
        .where("slug", "=", slug)
        .where("proposed_digest", "=", digest)
        .executeTakeFirst();
      return result.numUpdatedRows > 0n;
    },

    async dismiss(slug, digest) {
      const result = await store
        .updateTable("integration_sources")
        .set({ proposal_dismissed: 1 })
        .where("slug", "=", slug)
        .where("proposed_digest", "=", digest)
        .executeTakeFirst();
      return result.numUpdatedRows > 0n;
    },
  };
}

/** What is proposed for a source; new actions alone change nothing that was agreed to. */
export function judgeProposal(source: IntegrationSource): "none" | "additions" | "changes" {
  if (source.proposal === undefined) return "none";
  const { changed, removed } = compareContents(source.content, source.proposal.content);
  return changed.length + removed.length > 0 ? "changes" : "additions";
}
