import { MAX_SAID, MAX_SAID_CHARS, type Origin } from "../../../shared/wire/origin.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import type { SaidEvidence } from "./judge-values.ts";

/** What the human typed, the latest last. A function is asked once, when a call is judged. */
export type OwnerWords = readonly string[] | (() => readonly string[]);

type Arguments = Readonly<Record<string, unknown>>;

/** The human's words of one call. */
export interface SaidWords {
  /** False where the runtime gave none. */
  readonly isKnown: boolean;
  /** Finds forms in the words; undefined where there are none. */
  read(): Promise<SaidEvidence | undefined>;
  /** Origins of the values of these arguments that stand in the words. */
  find(args: Arguments): Promise<readonly Origin[]>;
  /** True where all of a value stands in the words. */
  holds(value: Pick<Origin, "argument" | "value">): Promise<boolean>;
  /** `said` of a request to this tool: undefined where nothing is found, or the service does not read it. */
  list(entry: CatalogEntry, args: Arguments): Promise<string[] | undefined>;
}

/** Most characters that are read, of the latest words. */
const MAX_CHARS = 50_000;

/** Reads the words of a call at the first question about them, and each object of arguments once. */
export function createSaidWords(given: OwnerWords | undefined): SaidWords {
  let evidence: Promise<SaidEvidence | undefined> | undefined;
  const found = new WeakMap<Arguments, Promise<readonly Origin[]>>();
  const read = () => {
    evidence ??= given === undefined ? Promise.resolve(undefined) : readWords(given);
    return evidence;
  };
  const find = async (args: Arguments) => {
    const search = found.get(args) ?? judgeWords(await read(), args);
    found.set(args, search);
    return (await search).filter(({ origin }) => origin === "you");
  };
  return {
    isKnown: given !== undefined,
    read,
    find,
    async holds({ argument, value }) {
      const name = /([^.[\]]+)(?:\[\d+\])*$/.exec(argument)?.[1] ?? argument;
      const judged = await judgeWords(await read(), { [name]: value });
      return judged.length > 0 && judged.every(({ origin }) => origin === "you");
    },
    async list(entry, args) {
      if (given === undefined || !readsSaid(entry)) return undefined;
      const values = new Set((await find(args)).map(({ value }) => value));
      const said = [...values].filter(({ length }) => length <= MAX_SAID_CHARS).slice(0, MAX_SAID);
      return said.length === 0 ? undefined : said;
    },
  };
}

/** Other services could refuse a member that they do not know. */
function readsSaid({ previews, ownerApproves, tellsOrigins }: CatalogEntry): boolean {
  return tellsOrigins === true || previews === true || ownerApproves === true;
}

async function readWords(given: OwnerWords): Promise<SaidEvidence | undefined> {
  const words = cutLatest(typeof given === "function" ? given() : given);
  if (words.length === 0) return undefined;
  const { readSaid } = await import("./judge-values.ts");
  return readSaid(words);
}

function cutLatest(words: readonly string[]): string[] {
  const kept: string[] = [];
  let left = MAX_CHARS;
  for (const text of words.toReversed()) {
    if (left <= 0) break;
    kept.unshift(text.slice(0, left));
    left -= text.length;
  }
  return kept.filter((text) => text.trim() !== "");
}

async function judgeWords(said: SaidEvidence | undefined, args: Arguments): Promise<readonly Origin[]> {
  if (said === undefined) return [];
  const { judgeSaid } = await import("./judge-values.ts");
  return judgeSaid(said, args);
}
