import { type IntegrationSource, isStopped } from "../../../src/apps/port/source.ts";
import type { SourceStore } from "../../../src/service/added/source-store.ts";

/** An added app that has to be there and usable. */
export async function findUsable(store: Pick<SourceStore, "find">, slug: string): Promise<IntegrationSource> {
  const source = await store.find(slug);
  if (source === undefined || isStopped(source)) throw new Error(`The app "${slug}" cannot be used.`);
  return source;
}
