import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Words with one meaning, and what the dictionary says about it. */
export interface Meaning {
  readonly words: readonly string[];
  /** Definition and examples. */
  readonly gloss: string;
  /** Words of the meanings it is linked to: wider, narrower, opposite. */
  readonly linked: readonly (readonly string[])[];
}

const FILES = ["data.noun", "data.verb", "data.adj", "data.adv"];

interface Row {
  readonly words: readonly string[];
  readonly gloss: string;
  readonly links: readonly string[];
}

/** Reads the database files of WordNet 3 in a folder (format: wndb(5WN)). */
export function readWordnet(folder: string): Meaning[] {
  const rows = new Map(FILES.flatMap((file) => readRows(join(folder, file))));
  return [...rows.values()].map(({ words, gloss, links }) => ({
    words,
    gloss,
    linked: links.flatMap((key) => {
      const row = rows.get(key);
      return row === undefined ? [] : [row.words];
    }),
  }));
}

function readRows(path: string): [key: string, row: Row][] {
  return readFileSync(path, "latin1")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith(" "))
    .map((line) => {
      const [head = "", gloss = ""] = line.split("|");
      const parts = head.trim().split(" ");
      const [offset = "", , kind = "", count = "0"] = parts;
      const words = Array.from({ length: Number.parseInt(count, 16) }, (_, at) => toWords(parts[4 + 2 * at] ?? ""));
      const linksAt = 4 + 2 * words.length;
      const links = Array.from({ length: Number(parts[linksAt]) }, (_, at) =>
        toKey(parts[linksAt + 3 + 4 * at] ?? "", parts[linksAt + 2 + 4 * at] ?? ""),
      );
      return [toKey(kind, offset), { words, gloss, links }];
    });
}

/** Satellites of adjectives are in the file of the adjectives. */
const toKey = (kind: string, offset: string) => `${kind === "s" ? "a" : kind}${offset}`;

const toWords = (lemma: string) => lemma.replace(/\(.*\)$/, "").replaceAll("_", " ");
