import type { AuthoredPart } from "../../shared/seen/evidence.ts";

/** Part of {@link Action}: whose the values in its results are. */
export interface TellsAuthors<Connection> {
  /**
   * Parts of a result that `run` returned, each with one author; a value that stands in several parts may be named in each. What no part
   * names counts as nothing seen. Looks at nothing but its arguments, and throws for nothing that `run` may return. Default: all
   * of it is `somebody`'s, of the kind `answer`, by the name of the app.
   */
  authored?(
    result: unknown,
    args: Readonly<Record<string, unknown>>,
    context: { readonly connection: Connection },
  ): readonly AuthoredPart[];
}

/** Part of {@link Integration}: the owner's own data. */
export interface TellsOwnValues<Context> {
  /**
   * Walks the owner's own data of one account by reads alone, whether an agent has seen them or not; newest or most telling first,
   * in a bounded number of parts, so that the caller may stop after any. What cannot be read is left out. Ends early once
   * `signal` aborts. Throws ServiceError where the account cannot be opened. Default: there are none.
   */
  ownValues?(context: Context): AsyncIterable<AuthoredPart>;
}

/** What is known of a part beside its kind: who wrote it, its title, and when. */
interface PartFacts {
  readonly by?: string | undefined;
  readonly title?: string | undefined;
  /** ISO 8601. */
  readonly at?: string | undefined;
}

/** Makes the parts of one app: `yours` are of the owner's own data, all others `somebody`'s. */
export function createAuthors(app: string) {
  const of =
    (whose: AuthoredPart["source"]["whose"]) =>
    (kind: string, content: unknown, { by, title, at }: PartFacts = {}): AuthoredPart => ({
      source: {
        ...{ app, kind, whose },
        ...(by !== undefined && by !== "" && { by }),
        ...(title !== undefined && title !== "" && { title }),
        ...(at !== undefined && at !== "" && { at }),
      },
      content,
    });
  return { yours: of("yours"), somebody: of("somebody") };
}

/** The parts of {@link TellsOwnValues.ownValues}, which end without a failure once `signal` aborts. */
export async function* endWithSignal(
  parts: AsyncIterable<AuthoredPart>,
  { signal }: { readonly signal: AbortSignal },
): AsyncGenerator<AuthoredPart, void, undefined> {
  try {
    for await (const part of parts) {
      if (signal.aborted) return;
      yield part;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** For a write whose result repeats its arguments alone: that says nothing of where they came from. */
export const tellsNobody = () => [];

/** For a write that shows what it changed: it makes nothing the owner's own, as its arguments are in there. */
export function tellOthers(parts: readonly AuthoredPart[]): AuthoredPart[] {
  return parts.filter(({ source }) => source.whose === "somebody");
}
