import { explainLevel, listLowered } from "../../apps/port/action-levels.ts";
import { createStoppedIntegration } from "../../apps/port/create-added-integration.ts";
import type { Integration } from "../../apps/port/integration.ts";
import {
  type IntegrationSource,
  isStopped,
  type OpenSource,
  type SourceKindName,
  type SourcePorts,
  type StoppedSource,
} from "../../apps/port/source.ts";
import type { SourceKinds } from "../../apps/source-kinds.ts";
import { toPlainText } from "../../shared/card/plain-text.ts";
import type { ServiceLog } from "../service-error.ts";
import { isStoreUnavailable } from "../store/store-errors.ts";
import { DAMAGED, stopSource } from "./read-source.ts";
import type { SourceStore } from "./source-store.ts";

/** The added integrations of a running service. */
export interface OpenSources {
  /** Looks for changes now; they are in use when it resolves, false where they could not be read. Never rejects. */
  refresh(): Promise<boolean>;
  close(): Promise<void>;
}

/** Dependencies of {@link openSources}. */
export interface SourceParts {
  readonly store: SourceStore;
  readonly kinds: SourceKinds;
  readonly ports: SourcePorts;
  readonly log: ServiceLog;
  /** Milliseconds between two looks for changes; default 2,000. */
  readonly watchMs?: number;
  /** Slugs that belong to apps which were not added. */
  readonly reserved: ReadonlySet<string>;
  /** Takes all added integrations, each time one has come, changed or gone; stopped ones too. */
  onChange(added: readonly Integration[]): void;
}

type Listed = Awaited<ReturnType<SourceStore["listRevisions"]>>[number];

interface Held {
  readonly revision: string;
  /** Undefined when its name belongs to another app: it is looked at again when it has changed. */
  readonly open: OpenSource | undefined;
}

const WATCH_MS = 2000;

/** Opens every stored source, then follows what other processes (`svc add`) change in the store. */
export async function openSources(parts: SourceParts): Promise<OpenSources> {
  const held = new Map<string, Held>();
  const ending = new Set<Promise<void>>();
  let refreshing = Promise.resolve(true);
  let phase: "starting" | "open" | "closed" = "starting";

  async function openOne(listed: Listed): Promise<[slug: string, Held] | undefined> {
    const { slug, revision } = listed;
    if (parts.reserved.has(slug)) {
      const message = `The app "${slug}" is left out: this service has another app of that name. "svc remove ${slug}" takes it away.`;
      parts.log({ level: "error", message });
      return [slug, { revision, open: undefined }];
    }
    let kindName: SourceKindName | undefined;
    try {
      const source = await parts.store.find(slug);
      if (source === undefined) return undefined;
      if (isStopped(source)) return [slug, standIn(source, parts.log)];
      kindName = source.kind;
      tellLowered(source, held.get(slug)?.open?.integration, parts.log);
      const kind = await parts.kinds[kindName]();
      return [slug, { revision: source.revision, open: await kind.open(source, parts.ports) }];
    } catch (cause) {
      if (isStoreUnavailable(cause)) throw cause;
      return [slug, standIn(stopSource(listed, DAMAGED, kindName), parts.log, cause)];
    }
  }

  /** All of them, or none when the store goes away meanwhile. */
  async function openAll(listed: readonly Listed[]): Promise<[slug: string, Held][]> {
    const opened: [slug: string, Held][] = [];
    try {
      for (const one of listed) opened.push(...[await openOne(one)].filter((held) => held !== undefined));
      return opened;
    } catch (error) {
      await closeAll(opened, parts.log);
      throw error;
    }
  }

  async function follow(): Promise<void> {
    const listed = await parts.store.listRevisions();
    const wanted = new Map(listed.map(({ slug, revision }) => [slug, revision]));
    const stale = [...held].filter(([slug, { revision }]) => wanted.get(slug) !== revision);
    const fresh = listed.filter(({ slug, revision }) => held.get(slug)?.revision !== revision);
    if (stale.length === 0 && fresh.length === 0) return;
    const opened = await openAll(fresh);
    if (phase === "open") tellChanges(held, wanted, parts.log);
    for (const [slug] of stale) held.delete(slug);
    for (const [slug, one] of opened) held.set(slug, one);
    parts.onChange([...held.values()].flatMap(({ open }) => (open === undefined ? [] : [open.integration])));
    // Only now: calls made until here still found the old one. Nobody waits for it: an app may take long to close.
    const end = closeAll(stale, parts.log).finally(() => ending.delete(end));
    ending.add(end);
  }

  function refresh(): Promise<boolean> {
    refreshing = refreshing.then(async () => {
      try {
        if (phase !== "closed") await follow();
        return true;
      } catch (cause) {
        parts.log({ level: "warn", message: "Changes of added apps could not be read.", cause });
        return false;
      }
    });
    return refreshing;
  }

  await refresh();
  phase = "open";
  const timer = setInterval(refresh, parts.watchMs ?? WATCH_MS).unref();
  return {
    refresh,
    async close() {
      clearInterval(timer);
      phase = "closed";
      await refreshing;
      await Promise.all([...ending, closeAll(held, parts.log)]);
      held.clear();
    },
  };
}

async function closeAll(sources: Iterable<[slug: string, Held]>, log: ServiceLog): Promise<void> {
  await Promise.all([...sources].map(([slug, { open }]) => closeApp({ slug, close: async () => open?.close() }, log)));
}

/** Tells people why an app cannot be used, in its place. */
function standIn(source: StoppedSource, log: ServiceLog, cause?: unknown): Held {
  const { slug, revision, stopped } = source;
  log({ level: "error", message: `The app "${toPlainText(slug)}" stopped working. ${stopped}`, cause });
  return { revision, open: { integration: createStoppedIntegration(source), close: async () => {} } };
}

/** Apps that came or went while the service runs: by a page, or by a command on the machine, which no page knows of. */
function tellChanges(
  before: ReadonlyMap<string, unknown>,
  wanted: ReadonlyMap<string, unknown>,
  log: ServiceLog,
): void {
  const tell = (slug: string, verb: "added" | "removed") =>
    log({
      level: "info",
      message: `The app "${toPlainText(slug)}" was ${verb}.`,
      facts: { event: `app.${verb}`, id: slug },
    });
  for (const slug of wanted.keys()) if (!before.has(slug)) tell(slug, "added");
  for (const slug of before.keys()) if (!wanted.has(slug)) tell(slug, "removed");
}

/** A lower level changes what runs unasked. */
function tellLowered(source: IntegrationSource, before: Integration | undefined, log: ServiceLog): void {
  for (const action of listLowered(before?.actions ?? [], source.content.actions)) {
    const why = explainLevel(action, source);
    log({ level: "info", message: `"${source.slug}_${action.id}" has the level ${action.level} now. ${why}.` });
  }
}

/** How long an app may take to close, in milliseconds: more than ours take with calls under way. */
const CLOSE_MS = 15_000;

/** Closes an app. A failure, or no end within 15 seconds, is logged and does not delay other apps; never rejects. */
export async function closeApp(app: { slug: string; close?(): Promise<void> }, log: ServiceLog): Promise<void> {
  const tooLate = Promise.withResolvers<"late">();
  const timer = setTimeout(() => tooLate.resolve("late"), CLOSE_MS);
  try {
    const end = await Promise.race([app.close?.(), tooLate.promise]);
    if (end !== "late") return;
    const message = `The app "${app.slug}" has not closed in ${CLOSE_MS / 1000} seconds and is left as it is.`;
    log({ level: "warn", message });
  } catch (cause) {
    log({ level: "warn", message: `The app "${app.slug}" could not be closed.`, cause });
  } finally {
    clearTimeout(timer);
  }
}
