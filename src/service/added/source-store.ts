import type { UpdateQueryBuilder, UpdateResult } from "kysely";
import { applyLevels, changeLevels, type LevelPolicy } from "../../apps/port/action-levels.ts";
import { type IntegrationSource, isStopped, type NewSource, type StoredSource } from "../../apps/port/source.ts";
import { compareContents, digestContent, type SourceContent } from "../../apps/port/source-content.ts";
import { createId } from "../../shared/base/ids.ts";
import { createShelf } from "../../shared/base/newest.ts";
import type { Store } from "../store/open-store.ts";
import type { SourceRow, Tables } from "../store/schema.ts";
import { readSource } from "./read-source.ts";

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
export interface SourceStore {
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
  /**
   * Keeps changed actions until the owner decides. False when they are what is used or proposed already; what is used
   * drops an older proposal, as its origin has changed back.
   */
  propose(slug: string, content: SourceContent): Promise<boolean>;
  /** Takes a proposal over, if it still has this digest. */
  accept(slug: string, digest: string): Promise<boolean>;
  /**
   * Changes how levels are decided, for an app as its owner was shown it, in one step with taking over its proposal; a proposal
   * that is not taken over waits with its new levels. False when app or proposal have changed since.
   */
  setLevels(shown: IntegrationSource, change: Partial<LevelPolicy>, o?: { takesProposal?: boolean }): Promise<boolean>;
  /** Asks no more about a proposal, if it still has this digest; it can still be accepted. Another one is asked about. */
  dismiss(slug: string, digest: string): Promise<boolean>;
}

/** Largest size of the judgements that are kept, in characters of their keys. */
const MAX_KEPT = 50_000;

type SourceUpdate = UpdateQueryBuilder<Tables, "integration_sources", "integration_sources", UpdateResult>;

/** Opens the sources of a store. */
export function createSourceStore(store: Store, now: () => number): SourceStore {
  const at = () => new Date(now()).toISOString();
  // Two contents of thousands of actions are not compared anew for every page that tells of them.
  const keep = createShelf<SourceMark["proposal"]>(MAX_KEPT, (judged) => judged.length);

  async function find(slug: string): Promise<StoredSource | undefined> {
    const row = await store.selectFrom("integration_sources").selectAll().where("slug", "=", slug).executeTakeFirst();
    return row && readSource(row);
  }

  async function judge(slug: string): Promise<SourceMark["proposal"]> {
    const source = await find(slug);
    return source === undefined || isStopped(source) ? "none" : judgeProposal(source);
  }

  /** Changes the row of a source where it is still as `narrow` asks; false where it is not. */
  const change: ChangeSource = async (slug, columns, narrow) => {
    const update = store.updateTable("integration_sources").set(columns).where("slug", "=", slug);
    return (await narrow(update).executeTakeFirst()).numUpdatedRows > 0n;
  };

  return {
    ...createProposals(find, change, at),
    find,

    async list() {
      return (await store.selectFrom("integration_sources").selectAll().orderBy("slug").execute()).map(readSource);
    },

    listRevisions: () =>
      store.selectFrom("integration_sources").select(["slug", "name", "revision"]).orderBy("slug").execute(),

    async listMarks() {
      const rows = await store
        .selectFrom("integration_sources")
        .select(["slug", "kind", "revision", "digest", "proposed_digest", "proposal_dismissed"])
        .orderBy("slug")
        .execute();
      return Promise.all(
        rows.map(async ({ slug, kind, proposal_dismissed, ...row }): Promise<SourceMark> => {
          const state = [slug, row.revision, row.digest, row.proposed_digest].join(" ");
          const proposal = row.proposed_digest === null ? "none" : await keep(state, () => judge(slug));
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

type ChangeSource = (
  slug: string,
  columns: Partial<SourceRow>,
  narrow: (update: SourceUpdate) => SourceUpdate,
) => Promise<boolean>;

/** Changes that wait for the owner. */
function createProposals(
  find: SourceStore["find"],
  change: ChangeSource,
  at: () => string,
): Pick<SourceStore, "propose" | "accept" | "setLevels" | "dismiss"> {
  const setLevels: SourceStore["setLevels"] = async (shown, levels, { takesProposal = false } = {}) => {
    const { slug, revision, proposal } = shown;
    const proposed = proposal && changeLevels({ ...shown, content: proposal.content }, levels);
    const next = (takesProposal && proposed) || changeLevels(shown, levels);
    const digest = digestContent(next.content);
    const left = proposed === undefined ? digest : digestContent(proposed.content);
    const waiting = { proposed_content: JSON.stringify(proposed?.content), proposed_digest: left };
    const columns = { content: JSON.stringify(next.content), digest, revision: createId("rev") };
    const definition = JSON.stringify(next.definition);
    return change(slug, { ...columns, definition, ...(left === digest ? NOTHING_PROPOSED : waiting) }, (update) =>
      update
        .where("revision", "=", revision)
        .where("proposed_digest", proposal === undefined ? "is" : "=", proposal?.digest ?? null),
    );
  };
  return {
    setLevels,

    async propose(slug, found) {
      const source = await find(slug);
      if (source === undefined || isStopped(source)) return false;
      // The reader of the list may not know of a change yet.
      const content = applyLevels(found, source.levels);
      const digest = digestContent(content);
      const isAgreed = digestContent(source.content) === digest;
      // Also clears an unreadable proposal.
      if (isAgreed || source.proposal === undefined)
        await change(slug, NOTHING_PROPOSED, (update) => update.where("proposed_digest", "is not", null));
      if (isAgreed) return false;
      const proposal = { proposed_content: JSON.stringify(content), proposed_digest: digest, proposed_at: at() };
      return change(slug, { ...proposal, proposal_dismissed: 0 }, (update) =>
        update
          .where("revision", "=", source.revision)
          .where((e) => e.or([e("proposed_digest", "is", null), e("proposed_digest", "!=", digest)])),
      );
    },

    async accept(slug, digest) {
      const source = await find(slug);
      if (source === undefined || isStopped(source) || source.proposal?.digest !== digest) return false;
      return setLevels(source, {}, { takesProposal: true });
    },

    dismiss: (slug, digest) =>
      change(slug, { proposal_dismissed: 1 }, (update) => update.where("proposed_digest", "=", digest)),
  };
}

/** The columns of a source that nothing is proposed for. */
const NOTHING_PROPOSED = {
  proposed_content: null,
  proposed_digest: null,
  proposed_at: null,
  proposal_dismissed: 0,
};

/** What is proposed for a source; new actions alone change nothing that was agreed to. */
export function judgeProposal(source: IntegrationSource): "none" | "additions" | "changes" {
  if (source.proposal === undefined) return "none";
  const { changed, removed } = compareContents(source.content, source.proposal.content);
  return changed.length + removed.length > 0 ? "changes" : "additions";
}
