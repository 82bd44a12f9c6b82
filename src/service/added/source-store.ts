import { createId } from "../auth/secrets.ts";
import type { Store } from "../store/open-store.ts";
import { isStopped, readSource, type StoredSource } from "./read-source.ts";
import type { IntegrationSource } from "./source.ts";
import { digestContent } from "./source-content.ts";
import { createSourceProposals, judgeProposal, NOTHING_PROPOSED, type SourceProposals } from "./source-proposals.ts";

/** What is stored when a source is added, or added again. */
export type NewSource = Omit<IntegrationSource, "proposal" | "revision" | "addedAt">;

/** Where an added app comes from, and whether its origin offers something else now. */
export interface SourceMark {
  readonly slug: string;
  /** See `SourceKindName`; of an app that cannot be used it may be anything. */
  readonly kind: string;
  /** `additions`: everything that was agreed to is the same as before. */
  readonly proposal: ReturnType<typeof judgeProposal>;
  /** The owner does not want to be asked about it. */
  readonly isDismissed: boolean;
}

/** The sources of a service; several processes may use one store. */
export interface SourceStore extends SourceProposals {
  /** All sources, by slug. One whose row is damaged is among them, and keeps no other from being read. */
  list(): Promise<StoredSource[]>;
  find(slug: string): Promise<StoredSource | undefined>;
  /** Slug, name and revision of each: what a running service looks at to learn of changes. */
  listRevisions(): Promise<{ readonly slug: string; readonly name: string; readonly revision: string }[]>;
  /** What the dashboard shows of each beside its actions. */
  listMarks(): Promise<SourceMark[]>;
  /** Adds a source or puts it in the place of the one with its slug; a proposal is dropped. */
  put(source: NewSource): Promise<void>;
  /** False when there was none. */
  remove(slug: string): Promise<boolean>;
}

/** Opens the sources of a store. */
export function createSourceStore(store: Store, now: () => number): SourceStore {
  const at = () => new Date(now()).toISOString();

  async function find(slug: string): Promise<StoredSource | undefined> {
    const row = await store.selectFrom("integration_sources").selectAll().where("slug", "=", slug).executeTakeFirst();
    return row && readSource(row);
  }

  return {
    ...createSourceProposals(store, { at, find }),
    find,

    async list() {
      return (await store.selectFrom("integration_sources").selectAll().orderBy("slug").execute()).map(readSource);
    },

    listRevisions: () =>
      store.selectFrom("integration_sources").select(["slug", "name", "revision"]).orderBy("slug").execute(),

    async listMarks() {
      const rows = await store
        .selectFrom("integration_sources")
        .select(["slug", "kind", "proposed_digest", "proposal_dismissed"])
        .orderBy("slug")
        .execute();
      return Promise.all(
        rows.map(async ({ slug, kind, proposed_digest, proposal_dismissed }): Promise<SourceMark> => {
          const source = proposed_digest === null ? undefined : await find(slug);
          const proposal = source === undefined || isStopped(source) ? "none" : judgeProposal(source);
          return { slug, kind, proposal, isDismissed: proposal_dismissed === 1 };
        }),
      );
    },

    async put(source) {
      const { slug, kind, name, content } = source;
      const changed = {
        kind,
        name,
        digest: digestContent(content),
        definition: JSON.stringify(source.definition),
        content: JSON.stringify(content),
        ...NOTHING_PROPOSED,
        revision: createId("rev"),
      };
      await store
        .insertInto("integration_sources")
        .values({ slug, ...changed, added_at: at() })
        .onConflict((conflict) => conflict.column("slug").doUpdateSet(changed))
        .execute();
    },

    async remove(slug) {
      const result = await store.deleteFrom("integration_sources").where("slug", "=", slug).executeTakeFirst();
      return result.numDeletedRows > 0n;
    },
  };
}
