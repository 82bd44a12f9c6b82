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
export function lookOf(text: string): string {
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

/** The known address or host that an address or host could be taken for; undefined for none. */
export function findLookAlike(place: string, { addresses, hosts }: KnownPlaces): string | undefined {
  const at = place.lastIndexOf("@");
  const host = place.slice(at + 1);
  if (at >= 0) {
    const known = addresses.find((address) => address.toLowerCase() !== place && isAlike(place, address.toLowerCase()));
    if (known !== undefined) return known;
  }
  const own = [...hosts, ...addresses.map((address) => address.slice(address.lastIndexOf("@") + 1))];
  return own.find((other) => other.toLowerCase() !== host && isHostAlike(host, other.toLowerCase()));
}

function isAlike(place: string, known: string): boolean {
  const [local = "", host = ""] = splitAt(place);
  const [knownLocal = "", knownHost = ""] = splitAt(known);
  const sameLocal = lookOf(local) === lookOf(knownLocal);
  if (sameLocal) return true;
  if (host !== knownHost && !isHostAlike(host, knownHost)) return false;
  return knownLocal.length >= SHORTEST_NAME && isOneEdit(lookOf(local), lookOf(knownLocal));
}

function splitAt(address: string): [string, string] {
  const at = address.lastIndexOf("@");
  return [address.slice(0, at), address.slice(at + 1)];
}

function isHostAlike(host: string, known: string): boolean {
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
