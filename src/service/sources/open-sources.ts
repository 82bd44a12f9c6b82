import { closeApp } from "../close-app.ts";
import type { Integration } from "../integrations/integration.ts";
import type { ServiceLog } from "../service-log.ts";
import { isStoreUnavailable } from "../store/store-errors.ts";
import type { OpenSource, SourcePorts } from "./source.ts";
import type { SourceKinds } from "./source-kinds.ts";
import type { SourceStore } from "./source-store.ts";

/** The added integrations of a running service. */
export interface OpenSources {
  /** Looks for changes now; what it finds is in use when it resolves. Never rejects. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

/** What {@link openSources} works with. */
export interface SourceParts {
  readonly store: SourceStore;
  readonly kinds: SourceKinds;
  readonly ports: SourcePorts;
  readonly log: ServiceLog;
  /** Milliseconds between two looks for changes; default 2,000. */
  readonly watchMs?: number;
  /** Takes all added integrations, each time one has come, changed or gone. */
  onChange(added: readonly Integration[]): void;
  /**
   * Removes what apps that are gone or replaced left behind; called when nothing of them runs here any more, and first of
   * all. False when it could not look: it is called again.
   */
  tidy?(): Promise<boolean>;
}

type Listed = Awaited<ReturnType<SourceStore["listRevisions"]>>[number];

interface Held {
  readonly revision: string;
  /** Undefined when it could not be opened: it is tried again when it has changed. */
  readonly open: OpenSource | undefined;
}

const WATCH_MS = 2000;

/** Opens every stored source, then follows what other processes (`svc add`) change in the store. */
export async function openSources(parts: SourceParts): Promise<OpenSources> {
  const held = new Map<string, Held>();
  let refreshing = Promise.resolve();
  let isClosed = false;
  let isTidy = false;

  async function openOne({ slug, revision }: Listed): Promise<[slug: string, Held] | undefined> {
    try {
      const source = await parts.store.find(slug);
      if (source === undefined) return undefined;
      const load = parts.kinds[source.kind];
      if (load === undefined) throw new Error(`There is no kind "${source.kind}" in this version.`);
      return [slug, { revision: source.revision, open: await (await load()).open(source, parts.ports) }];
    } catch (cause) {
      if (isStoreUnavailable(cause)) throw cause;
      parts.log({ level: "error", message: `The app "${slug}" cannot be opened and is left out.`, cause });
      return [slug, { revision, open: undefined }];
    }
  }

  /** All of them, or none when the store goes away meanwhile. */
  async function openAll(listed: readonly Listed[]): Promise<[slug: string, Held][]> {
    const opened: [slug: string, Held][] = [];
    try {
      for (const one of listed) opened.push(...[await openOne(one)].filter((held) => held !== undefined));
      return opened;
    } catch (error) {
      await closeAll(opened);
      throw error;
    }
  }

  async function follow(): Promise<void> {
    const listed = await parts.store.listRevisions();
    const wanted = new Map(listed.map(({ slug, revision }) => [slug, revision]));
    const stale = [...held].filter(([slug, { revision }]) => wanted.get(slug) !== revision);
    const fresh = listed.filter(({ slug, revision }) => held.get(slug)?.revision !== revision);
    if (stale.length === 0 && fresh.length === 0) return tidy();
    const opened = await openAll(fresh);
    for (const [slug] of stale) held.delete(slug);
    for (const [slug, one] of opened) held.set(slug, one);
    parts.onChange([...held.values()].flatMap(({ open }) => (open === undefined ? [] : [open.integration])));
    // Only now: calls made until here still found the old one.
    await closeAll(stale);
    isTidy &&= stale.length === 0;
    await tidy();
  }

  async function closeAll(sources: Iterable<[slug: string, Held]>): Promise<void> {
    await Promise.all(
      [...sources].map(([slug, { open }]) => closeApp({ slug, close: async () => open?.close() }, parts.log)),
    );
  }

  async function tidy(): Promise<void> {
    if (!isTidy) isTidy = (await parts.tidy?.()) ?? true;
  }

  function refresh(): Promise<void> {
    refreshing = refreshing
      .then(() => (isClosed ? undefined : follow()))
      .catch((cause) => parts.log({ level: "warn", message: "Changes of added apps could not be read.", cause }));
    return refreshing;
  }

  await refresh();
  const timer = setInterval(refresh, parts.watchMs ?? WATCH_MS).unref();
  return {
    refresh,
    async close() {
      clearInterval(timer);
      isClosed = true;
      await refreshing;
      await closeAll(held);
      held.clear();
    },
  };
}
