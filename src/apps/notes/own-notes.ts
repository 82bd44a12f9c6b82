import type { AuthoredPart } from "../../shared/seen/evidence.ts";
import { tellPage } from "./authored-page.ts";
import type { Notebook } from "./notebook.ts";

/** Pages whose titles are told, and those whose text is. On another machine each text is some requests. */
const MOST = { here: { pages: 2000, texts: 2000 }, remote: { pages: 500, texts: 50 } };
/** Longest part of a text, in characters. */
const MAX_TEXT = 256 * 1024;
/** All texts together, in characters. */
const MAX_TEXTS = 16 * 1024 * 1024;

/** Every page, most recently changed first; those that cannot be read by their titles alone. */
export async function* walkNotes(
  notebook: Pick<Notebook, "list" | "read">,
  { signal, isRemote }: { readonly signal: AbortSignal; readonly isRemote: boolean },
): AsyncGenerator<AuthoredPart, void, undefined> {
  const most = isRemote ? MOST.remote : MOST.here;
  const { pages } = await notebook.list({ parent: "", tag: undefined, offset: 0, limit: most.pages });
  let left = MAX_TEXTS;
  for (const [index, page] of pages.entries()) {
    if (signal.aborted) return;
    const isRead = index < most.texts && left > 0;
    const read = isRead ? await notebook.read(page.path, { from: 0, to: MAX_TEXT }).catch(() => undefined) : undefined;
    left -= read?.text.length ?? 0;
    yield* tellPage({ ...page, ...(read && { properties: read.properties, body: read.text }) });
  }
}
