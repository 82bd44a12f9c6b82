/** Words that say nothing about which tool is meant. */
const STOP_WORDS = new Set(
  "a about all am an and any are as at be by can could do does for from get give has have how i if in into is it its me my need of on one or our out please show so some that the their them there this to us want was we what when where which who whose will with would you your".split(
    " ",
  ),
);

/**
 * What people say, and the words that tools use for it. A word here is looked up besides the one that was typed, with
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
export function splitWords(text: string): string[] {
  return text
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

/** Lower case and without the commonest English endings, so that "files" finds `upload_file`; null for a stop word. */
export function normaliseWord(word: string): string | null {
  const lower = word.toLowerCase();
  return STOP_WORDS.has(lower) ? null : stem(lower);
}

/** Further words to look for beside a normalised one. */
export function findSynonyms(word: string): readonly string[] {
  return STEMMED_SYNONYMS.get(word) ?? [];
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
