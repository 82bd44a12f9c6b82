import type { Integration } from "../../apps/port/integration.ts";
import { isRecord } from "../../shared/base/json.ts";
import type { CatalogEntry } from "./catalog-entry.ts";
import { createNameFinder } from "./named-tools.ts";
import { createWordIndex, type Evidence } from "./word-index.ts";
import { isMeaningful, splitWords, stem, toSingular } from "./words.ts";

/** One search result. */
export type CatalogFind =
  | { readonly kind: "action"; readonly entry: CatalogEntry }
  | { readonly kind: "integration"; readonly integration: Integration };

/** What is looked for. Default: everything. */
export interface SearchScope {
  readonly kind?: CatalogFind["kind"];
  /** Slug of the only one to search in. */
  readonly integration?: string;
  /** Slugs of connected apps: others count less, because nothing of them can be called yet. Default: all count alike. */
  readonly connected?: ReadonlySet<string>;
}

interface IndexedThing {
  readonly found: CatalogFind;
  readonly toolOrSlug: string;
  readonly fields: Readonly<Record<keyof typeof WEIGHTS, string>>;
}

/** What a word counts, by the field it stands in. */
const WEIGHTS = { name: 3, app: 1, title: 1, description: 1, aboutApp: 0.3, parameters: 0.4, aboutParameters: 0.3 };
/** Of what an app without a connection offers: found, but after something as fitting that can be called. */
const UNCONNECTED_WEIGHT = 0.7;
/** Of what an app offers that the question names, and that offers more than one thing. */
const NAMED_APP_WEIGHT = 1.4;
/** Words of the longest name of an app that is looked for. */
const MAX_APP_WORDS = 4;
/** Different words of a question that are looked at; more only cost time. */
const MAX_QUERY_WORDS = 64;
/** Longer words are left out: no tool has one. */
const MAX_WORD_CHARS = 64;
/** Added to the best of one intent among several, with all of a question being 1; half for the second, and so on. */
const INTENT_WEIGHT = 0.15;
const INTENT_DEPTH = 10;
/** Parameters of a tool, and letters of what each says, that are searched. */
const MAX_PARAMETERS = 40;
const MAX_PARAMETER_CHARS = 200;

/**
 * Indexes integrations and their actions for the one search of the service: what a question names comes first, then what
 * fits best, ties by name. `integration` is the slug of the only one to search in.
 */
export function createSearchIndex(integrations: readonly Integration[], entries: readonly CatalogEntry[]) {
  const things = [...integrations.map(describeIntegration), ...entries.map(describeEntry)];
  // Ties go by name: by place in this order, which is quicker to compare.
  things.sort((a, b) => (a.toolOrSlug < b.toolOrSlug ? -1 : 1));
  const index = createWordIndex(
    things.map(({ fields }) => fields),
    WEIGHTS,
  );
  const findNamed = createNameFinder(
    things.map(({ found, toolOrSlug }, place) => ({
      thing: place,
      ...(found.kind === "action" ? { full: toolOrSlug, short: found.entry.action.id } : { short: toolOrSlug }),
    })),
  );
  const findApps = createAppFinder(integrations);
  return (query: string, scope: SearchScope = {}): CatalogFind[] => {
    const { kind, integration, connected } = scope;
    const apps = findApps(query);
    const isInScope = ({ found }: IndexedThing) =>
      (kind === undefined || found.kind === kind) && (integration === undefined || slugOf(found) === integration);
    const readFactor = (place: number) => {
      const thing = things[place];
      if (thing === undefined || !isInScope(thing)) return 0;
      const slug = slugOf(thing.found);
      return (connected?.has(slug) === false ? UNCONNECTED_WEIGHT : 1) * (apps.has(slug) ? NAMED_APP_WEIGHT : 1);
    };
    const scores = rankThings(splitIntents(query, index.has), index, things.length, readFactor);
    const byScore = (a: number, b: number) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b;
    const named = findNamed(query).map((places) => places.filter((place) => readFactor(place) > 0).sort(byScore));
    const ranked = [...scores.keys()].filter((place) => (scores[place] ?? 0) > 0).sort(byScore);
    return [...new Set([...interleave(named), ...ranked])].flatMap((place) => things[place]?.found ?? []);
  };
}

/** Finds the slugs of apps whose slug or name a question has in it. */
function createAppFinder(integrations: readonly Integration[]): (query: string) => ReadonlySet<string> {
  const toKey = (words: readonly string[]) => words.map((word) => toSingular(word.toLowerCase())).join("");
  const several = integrations.filter(({ actions }) => actions.length > 1);
  const slugs = Map.groupBy(
    several.flatMap(({ slug, name }) => [slug, name].map((text) => ({ slug, key: toKey(splitWords(text)) }))),
    ({ key }) => key,
  );
  return (query) => {
    const words = splitWords(query);
    const parts = words.flatMap((_, at) =>
      Array.from({ length: MAX_APP_WORDS }, (_unused, more) => toKey(words.slice(at, at + more + 1))),
    );
    return new Set(parts.flatMap((part) => slugs.get(part) ?? []).map(({ slug }) => slug));
  };
}

type WordIndex = ReturnType<typeof createWordIndex>;

/** The score of every thing for a question: for all of its words, and more for what fits one of several intents best. */
function rankThings(
  intents: readonly (readonly string[])[],
  index: WordIndex,
  count: number,
  readFactor: (place: number) => number,
): Float64Array {
  const words = new Map(intents.flat().map((word) => [stem(word), word]));
  const typed = [...words].slice(0, MAX_QUERY_WORDS);
  const looked = index.lookUp(typed.map(([, word]) => word));
  const factors = new Float64Array(count).fill(-1);
  const readOnce = (place: number) => {
    if (factors[place] === -1) factors[place] = readFactor(place);
    return factors[place] ?? 0;
  };
  const evidence = new Map(typed.map(([word], at) => [word, looked[at] ?? NOTHING]));
  const addUp = (words: Iterable<string>) => {
    const scores = new Float64Array(count);
    for (const word of words) {
      const { things, scores: own } = evidence.get(word) ?? NOTHING;
      for (let at = 0; at < things.length; at += 1) {
        const place = things[at] ?? 0;
        scores[place] = (scores[place] ?? 0) + (own[at] ?? 0) * readOnce(place);
      }
    }
    return scores;
  };
  const whole = addUp(evidence.keys());
  if (intents.length < 2) return whole;
  const most = whole.reduce((a, b) => (a > b ? a : b), 0);
  for (const words of intents) {
    const scores = addUp(new Set(words.map(stem)));
    for (const [rank, place] of listBest(scores, INTENT_DEPTH).entries()) {
      whole[place] = (whole[place] ?? 0) + (most * INTENT_WEIGHT) / (rank + 1);
    }
  }
  return whole;
}

const NOTHING: Evidence = { things: new Uint32Array(), scores: new Float64Array() };

/** Places of the `count` highest scores above 0, the highest first. */
function listBest(scores: Float64Array, count: number): number[] {
  const best: number[] = [];
  for (let place = 0; place < scores.length; place += 1) {
    const score = scores[place] ?? 0;
    if (score === 0 || (best.length === count && score <= (scores[best.at(-1) ?? 0] ?? 0))) continue;
    let at = best.length;
    while (at > 0 && score > (scores[best[at - 1] ?? 0] ?? 0)) at -= 1;
    best.splice(at, 0, place);
    if (best.length > count) best.pop();
  }
  return best;
}

/** The words of each intent of a question, in lower case; an intent ends at a full stop, a comma, "and" or "then". */
function splitIntents(query: string, isIndexed: (word: string) => boolean): string[][] {
  return query
    .split(/[.;!?\n](?=\s|$)|,\s|\s(?:and|then|also)\s/iu)
    .map((part) => {
      const typed = splitWords(part).filter((word) => word.length <= MAX_WORD_CHARS);
      // Two words may be one in a tool: "on call", "oncall".
      const joined = typed.slice(1).map((word, at) => `${typed[at]}${word}`);
      return [...typed, ...joined.filter(isIndexed)].map((word) => word.toLowerCase()).filter(isMeaningful);
    })
    .filter((words) => words.length > 0);
}

/** The first of each list, then the second, and so on. */
function interleave<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = lists.reduce((most, list) => Math.max(most, list.length), 0);
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}

function slugOf(found: CatalogFind): string {
  return found.kind === "action" ? found.entry.integration.slug : found.integration.slug;
}

function describeEntry(entry: CatalogEntry): IndexedThing {
  const { toolName, integration, action } = entry;
  const parameters = listParameters(action.inputSchema);
  return {
    found: { kind: "action", entry },
    toolOrSlug: toolName,
    fields: {
      name: action.id,
      app: `${integration.slug} ${integration.name}`,
      title: action.title,
      description: action.description,
      aboutApp: integration.description,
      parameters: parameters.map(([name]) => name).join(" "),
      aboutParameters: parameters.map(([, about]) => about).join(" "),
    },
  };
}

/** Names and descriptions of arguments, and of those inside them. */
function listParameters(schema: unknown, depth = 2): [name: string, about: string][] {
  const properties = isRecord(schema) && isRecord(schema.properties) ? Object.entries(schema.properties) : [];
  return properties
    .flatMap(([name, property]): [string, string][] => {
      const about = isRecord(property) && typeof property.description === "string" ? property.description : "";
      return [[name, about.slice(0, MAX_PARAMETER_CHARS)], ...(depth > 1 ? listParameters(property, depth - 1) : [])];
    })
    .slice(0, MAX_PARAMETERS);
}

function describeIntegration(integration: Integration): IndexedThing {
  const { slug, name, description, category: title } = integration;
  const fields = { name: slug, app: name, title, description, aboutApp: "", parameters: "", aboutParameters: "" };
  return { found: { kind: "integration", integration }, toolOrSlug: slug, fields };
}
