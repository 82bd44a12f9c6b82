import MiniSearch, { type Query } from "minisearch";
import type { Integration } from "../integrations/integration.ts";
import type { CatalogEntry } from "./catalog-entry.ts";

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
  readonly id: string;
  readonly found: CatalogFind;
  readonly toolOrSlug: string;
  readonly name: string;
  readonly slug: string;
  readonly title: string;
  readonly description: string;
}

/** Words shorter than this are matched exactly, longer ones also with small misspellings. */
const FUZZY_FROM = 4;
const PREFIX_FROM = 3;
const SYNONYM_WEIGHT = 0.4;
const JOINED_WEIGHT = 0.8;
/** Of what an app without a connection offers: found, but after something as fitting that can be called. */
const UNCONNECTED_WEIGHT = 0.7;
const BOOST = { name: 4, slug: 3, title: 2, description: 1 } as const;
/** Longest query that is looked at; more words only cost time. */
const MAX_QUERY_WORDS = 24;
/** Longer words are left out: no tool has one, and looking for misspellings takes time and memory by their square. */
const MAX_WORD_CHARS = 64;

/**
 * Indexes integrations and their actions for the one search of the service: best first, ties by name; a query that is
 * exactly a name comes first. `integration` is the slug of the only one to search in.
 */
export function createSearchIndex(integrations: readonly Integration[], entries: readonly CatalogEntry[]) {
  const index = new MiniSearch<IndexedThing>({
    fields: ["name", "slug", "title", "description"],
    tokenize: splitWords,
    processTerm: normaliseWord,
    searchOptions: {
      // Words of a query are normalised before they come here.
      tokenize: (word) => [word],
      processTerm: (word) => word,
      boost: BOOST,
      prefix: (word) => word.length >= PREFIX_FROM,
      fuzzy: (word) => (word.length >= FUZZY_FROM ? 0.2 : false),
      weights: { prefix: 0.4, fuzzy: 0.2 },
    },
  });
  const things = [...integrations.map(describeIntegration), ...entries.map(describeEntry)];
  // Ties go by name: by place in this order, which is quicker to compare.
  things.sort((a, b) => (a.toolOrSlug < b.toolOrSlug ? -1 : 1));
  index.addAll(things);
  const byId = new Map(things.map((thing, place) => [thing.id, { thing, place }]));
  return (query: string, scope: SearchScope = {}): CatalogFind[] => {
    const { kind, integration, connected } = scope;
    const wanted = query.trim().toLowerCase();
    const isInScope = ({ found }: IndexedThing) =>
      (kind === undefined || found.kind === kind) && (integration === undefined || slugOf(found) === integration);
    return index
      .search(toQuery(wanted))
      .flatMap(({ id, score }) => {
        const known = byId.get(id);
        if (known === undefined || !isInScope(known.thing)) return [];
        const { thing, place } = known;
        const weight = connected?.has(slugOf(thing.found)) === false ? UNCONNECTED_WEIGHT : 1;
        const isNamed = thing.toolOrSlug === wanted;
        return [{ found: thing.found, place, score: isNamed ? Number.POSITIVE_INFINITY : score * weight }];
      })
      .sort((a, b) => b.score - a.score || a.place - b.place)
      .map(({ found }) => found);
  };
}

function slugOf(found: CatalogFind): string {
  return found.kind === "action" ? found.entry.integration.slug : found.integration.slug;
}

function describeEntry(entry: CatalogEntry): IndexedThing {
  const { toolName, integration, action } = entry;
  return {
    id: `action ${toolName}`,
    found: { kind: "action", entry },
    toolOrSlug: toolName,
    name: action.id,
    slug: `${integration.slug} ${integration.name}`,
    title: action.title,
    description: `${action.description} ${integration.description}`,
  };
}

function describeIntegration(integration: Integration): IndexedThing {
  const { slug, name, description, category: title } = integration;
  const found = { kind: "integration", integration } as const;
  return { id: `integration ${slug}`, found, toolOrSlug: slug, name, slug, title, description };
}

/** Every word counts; its synonyms, and two words written as one ("on call", "oncall"), count less. */
function toQuery(text: string): Query {
  const typed = splitWords(text)
    .filter((word) => word.length <= MAX_WORD_CHARS)
    .slice(0, MAX_QUERY_WORDS);
  const words = typed.flatMap((word) => normaliseWord(word) ?? []);
  const joined = typed.slice(1).flatMap((word, index) => normaliseWord(`${typed[index]}${word}`) ?? []);
  const synonyms = words.flatMap((word) => STEMMED_SYNONYMS.get(word) ?? []);
  return {
    combineWith: "OR",
    queries: [...words, ...weighWords(joined, words, JOINED_WEIGHT), ...weighWords(synonyms, words, SYNONYM_WEIGHT)],
  };
}

/** Queries for exact words that are not looked for already. */
function weighWords(words: readonly string[], known: readonly string[], weight: number): Query[] {
  const boost = Object.fromEntries(Object.entries(BOOST).map(([field, value]) => [field, value * weight]));
  return [...new Set(words)]
    .filter((word) => !known.includes(word))
    .map((word) => ({ combineWith: "OR", queries: [word], prefix: false, fuzzy: false, boost }));
}

/** Words that say nothing about which tool is meant. */
const STOP_WORDS = new Set(
  "a about all am an and any are as at be by can could do does for from get give has have how i if in into is it its me my need of on one or our out please show so some that the their them there this to us want was we what when where which who whose will with would you your".split(
    " ",
  ),
);

/**
 * Everyday words and their synonyms in tool names. A word here is looked up besides the one that was typed, with
 * less weight. Kept small: words for common things, no names of apps.
 */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  add: ["create", "insert"],
  address: ["location", "place"],
  answer: ["reply"],
  append: ["add"],
  appointment: ["event"],
  bin: ["trash", "delete"],
  book: ["create", "schedule"],
  booking: ["event", "scheduling"],
  buy: ["order"],
  cancel: ["delete"],
  change: ["update", "edit"],
  chat: ["message", "conversation"],
  client: ["customer", "contact"],
  colleague: ["user", "member"],
  copy: ["duplicate"],
  directory: ["folder"],
  discount: ["coupon"],
  display: ["view"],
  doc: ["document"],
  edit: ["update"],
  email: ["mail", "message"],
  erase: ["delete"],
  fetch: ["read"],
  find: ["search"],
  forward: ["send"],
  hour: ["time"],
  invoice: ["bill"],
  log: ["track"],
  look: ["search", "find"],
  mail: ["email", "message"],
  make: ["create"],
  meeting: ["event"],
  modify: ["update"],
  money: ["payment", "balance", "refund"],
  near: ["nearby"],
  new: ["create"],
  note: ["page"],
  office: ["vacation"],
  open: ["read", "create"],
  people: ["user", "member"],
  person: ["user", "contact"],
  photo: ["image"],
  picture: ["image", "photo"],
  post: ["create", "send"],
  publish: ["create"],
  put: ["create", "upload", "move"],
  remove: ["delete"],
  rename: ["move", "update"],
  reply: ["send"],
  repo: ["repository"],
  save: ["upload", "create"],
  see: ["list", "view"],
  share: ["permission", "link", "invite"],
  snooze: ["dnd"],
  stock: ["inventory"],
  store: ["upload"],
  subscribe: ["add", "member"],
  task: ["issue", "todo"],
  teammate: ["user", "member"],
  throw: ["delete", "trash"],
  ticket: ["issue"],
  tweet: ["post"],
  write: ["create"],
};

/** Splits text and names such as `upload_file` or `uploadFile` into words. */
function splitWords(text: string): string[] {
  return text
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

/** Lower case and without the commonest English endings, so that "files" finds `upload_file`; null for a stop word. */
function normaliseWord(word: string): string | null {
  const lower = word.toLowerCase();
  return STOP_WORDS.has(lower) ? null : stem(lower);
}

function stem(word: string): string {
  if (word.length > 4 && word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (word.length > 5 && word.endsWith("ing")) return dropDouble(word.slice(0, -3));
  if (word.length > 4 && word.endsWith("ed")) return dropDouble(word.slice(0, -2));
  if (word.length > 4 && /(?:ss|x|ch|sh)es$/.test(word)) return dropE(word.slice(0, -2));
  if (word.length > 3 && word.endsWith("s") && !/(?:ss|us|is)$/.test(word)) return dropE(word.slice(0, -1));
  return dropE(word);
}

/** "update", "updated" and "updating" meet without their e. */
function dropE(word: string): string {
  return word.length > 4 && word.endsWith("e") ? word.slice(0, -1) : word;
}

function dropDouble(word: string): string {
  const last = word.at(-1);
  return word.length > 3 && last === word.at(-2) && !"lsz".includes(last ?? "") ? word.slice(0, -1) : dropE(word);
}

const STEMMED_SYNONYMS = new Map(
  Object.entries(SYNONYMS).map(([word, others]) => [stem(word), others.map((other) => stem(other))]),
);
