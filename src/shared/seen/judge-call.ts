import { MAX_ORIGINS, type Origin } from "../wire/origin.ts";
import { readArgumentName } from "./argument-names.ts";
import { judgeText, judgeWhole } from "./judge-text.ts";
import type { Judged } from "./judged.ts";
import { findLookAlike, type KnownPlaces } from "./look-alikes.ts";
import type { Witnesses } from "./weigh-forms.ts";

/** What a call would do: its final arguments, and the texts of files it writes. */
export interface JudgedCall {
  readonly args: Readonly<Record<string, unknown>>;
  readonly files?: readonly { readonly argument: string; readonly text: string }[] | undefined;
}

/** What is known where a call is judged. */
export interface Knowledge extends Witnesses {
  /** Addresses and hosts of the owner's own data, for look-alikes. */
  readonly known?: KnownPlaces | undefined;
}

const MOST_LEAVES = 1000;
const LONGEST_VALUE = 200;
const DEEPEST = 30;

/**
 * Judges where the values of a call come from: `you` before `yours` before `somebody` before `unseen`. Sinks come first, then
 * other values, then sentences; at most `MAX_ORIGINS`.
 */
export function judgeCall({ args, files = [] }: JudgedCall, knowledge: Knowledge): Origin[] {
  const origins: Origin[] = [];
  let leaves = 0;
  for (const leaf of readLeaves(args, "", "", DEEPEST)) {
    if (++leaves > MOST_LEAVES) break;
    origins.push(...judgeLeaf(leaf, knowledge));
  }
  for (const { argument, text } of files) {
    origins.push(...judgeText(text, knowledge).map((judged) => toOrigin(argument, judged, false, knowledge)));
  }
  const unique = [
    ...new Map(origins.map((origin) => [`${origin.argument}\n${origin.kind}\n${origin.value}`, origin])).values(),
  ];
  const rank = ({ sink, kind }: Origin) => (sink ? 0 : kind === "text" ? 2 : 1);
  return unique.toSorted((a, b) => rank(a) - rank(b)).slice(0, MAX_ORIGINS);
}

interface ArgumentLeaf {
  readonly path: string;
  readonly name: string;
  readonly value: string | number;
  /** True for a member of a file object. */
  readonly ofFile: boolean;
}

function* readLeaves(
  value: unknown,
  path: string,
  name: string,
  deeper: number,
  ofFile = false,
): Generator<ArgumentLeaf> {
  if (typeof value === "string" || typeof value === "number") yield { path, name, value, ofFile };
  if (typeof value !== "object" || value === null || deeper === 0) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* readLeaves(item, `${path}[${index}]`, name, deeper - 1);
    return;
  }
  for (const [key, member] of Object.entries(value)) {
    yield* readLeaves(member, path === "" ? key : `${path}.${key}`, key, deeper - 1, "s3key" in value);
  }
}

function judgeLeaf({ path, name, value, ofFile }: ArgumentLeaf, knowledge: Knowledge): Origin[] {
  const named = readArgumentName(name);
  const text = String(value);
  if (text.trim() === "") return [];
  if (named.opaque) {
    // An id that is a readable path is worth a line where it is the owner's own.
    const readable = /^[^/]*\p{L}.*\.\w{2,4}$/u.test(text) && !/\.(?:ics|vcf)$/.test(text);
    const judged = readable ? judgeWhole(text, "path", knowledge) : [];
    return judged
      .filter(({ origin }) => origin === "you" || origin === "yours")
      .map((one) => toOrigin(path, one, false, knowledge));
  }
  const kind = ofFile && name === "name" ? "path" : named.kind;
  return judgeWhole(text, kind, knowledge).map((judged) => toOrigin(path, judged, named.sink, knowledge));
}

function toOrigin(argument: string, judged: Judged, sink: boolean, { known }: Knowledge): Origin {
  const { value, kind, origin, source, place } = judged;
  const alike = known && place && origin !== "you" && origin !== "yours" ? findLookAlike(place, known) : undefined;
  const { whose: _, ...shown } = source ?? { whose: "yours" };
  return {
    argument,
    value: value.slice(0, LONGEST_VALUE).toWellFormed(),
    kind,
    origin,
    ...(source && { source: { app: source.app, kind: source.kind, ...shown } }),
    ...(alike !== undefined && { looks_like: alike }),
    sink: sink && judged.goes !== false,
  };
}
