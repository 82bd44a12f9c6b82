import data from "./confusables.json" with { type: "json" };

/** Addresses and hosts of the owner's own data, in their forms or as they are written. */
export interface KnownPlaces {
  readonly addresses: readonly string[];
  readonly hosts: readonly string[];
}

/** Shorter names differ by one letter too easily. */
const SHORTEST_NAME = 5;

let letters: Map<string, string> | undefined;

/** A text with each letter replaced by the Latin one that it looks like, by Unicode's table of confusables. */
function lookOf(text: string): string {
  if (!letters) {
    letters = new Map();
    for (const [plain, others] of Object.entries(data.letters)) for (const other of others) letters.set(other, plain);
  }
  const table = letters;
  const plain = [...text.normalize("NFKC").toLowerCase()].map((letter) => table.get(letter) ?? letter).join("");
  const bare = plain.normalize("NFD").replace(/\p{M}/gu, "");
  return bare
    .replaceAll("rn", "m")
    .replaceAll("vv", "w")
    .replace(/[01il|]/g, (letter) => (letter === "0" ? "o" : "l"));
}

/** Names of offices rather than people: the same one at another domain says nothing. */
const OFFICES =
  /^(?:admin|billing|buchhaltung|contact|hallo|hello|help|info|kontakt|mail|news|no-?reply|office|orders?|post|sales|service|shop|support|team)$/;

/**
 * The known address or host that one in its normal form could be taken for; undefined for none. First an address that is alike
 * in both parts, then a host, then the same name at another domain.
 */
export function findLookAlike(place: string, { addresses, hosts }: KnownPlaces): string | undefined {
  const [local, host] = splitAt(place);
  const people = local === "" ? [] : addresses.map((known) => ({ known, parts: splitAt(known.toLowerCase()) }));
  const others = people.filter(({ parts }) => parts[0] !== local || parts[1] !== host);
  const alike = others.find(({ parts: [name, domain] }) => isNameAlike(local, name) && isHostAlike(host, domain));
  if (alike) return alike.known;
  const own = [...hosts, ...addresses.map((address) => splitAt(address)[1])].map((other) => other.toLowerCase());
  const similar = own.includes(host) ? undefined : own.find((other) => isHostAlike(host, other));
  if (similar !== undefined) return similar;
  const namesake = OFFICES.test(local) ? undefined : others.find(({ parts }) => lookOf(parts[0]) === lookOf(local));
  return namesake?.known;
}

function isNameAlike(name: string, known: string): boolean {
  const look = lookOf(name);
  return look === lookOf(known) || (known.length >= SHORTEST_NAME && isOneEdit(look, lookOf(known)));
}

function splitAt(address: string): [string, string] {
  const at = address.lastIndexOf("@");
  return [address.slice(0, at), address.slice(at + 1)];
}

function isHostAlike(host: string, known: string): boolean {
  if (host === known) return true;
  if (!known.includes(".")) return false;
  if (lookOf(host) === lookOf(known) || host.startsWith(`${known}.`)) return true;
  const [name, rest] = registrable(host);
  const [knownName, knownRest] = registrable(known);
  if (knownName.length < SHORTEST_NAME) return false;
  if (name === knownName) return rest !== knownRest;
  return isOneEdit(lookOf(name), lookOf(knownName));
}

/** The name that somebody registered, and what follows it. */
function registrable(host: string): [string, string] {
  const labels = host.split(".");
  const second = labels.length > 2 && /^(?:co|com|org|net|ac|gov|ne|or)$/.test(labels.at(-2) ?? "") ? 2 : 1;
  return [labels.at(-1 - second) ?? "", labels.slice(-second).join(".")];
}

/** True for two texts that one insertion, deletion, change or swap of neighbours apart. */
export function isOneEdit(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > 1 || one === other) return one === other;
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  if (one.length === other.length) {
    if (one.slice(at + 1) === other.slice(at + 1)) return true;
    return one[at] === other[at + 1] && one[at + 1] === other[at] && one.slice(at + 2) === other.slice(at + 2);
  }
  const [longer, shorter] = one.length > other.length ? [one, other] : [other, one];
  return longer.slice(at + 1) === shorter.slice(at);
}
