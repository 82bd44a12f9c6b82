import fc, { type Arbitrary } from "fast-check";

/** Characters that look like nothing or like others, and those that cards themselves are written with. */
const TRICKY = [
  ..."ab12 \"\\'[]{}:;,.…\n\t\r",
  ..."\u0000\u0007\u001b\u007f\u0085\u009b\u00a0\u00ad\u034f\u061c\u115f\u180e\u2003\u200b\u200c\u200d\u200e",
  ..."\u2028\u202e\u2066\u2800\u3000\u3164\ufe00\ufe0f\ufeff\uffa0\u{e0041}\u{e0101}👩🚀é",
  "\\n",
  "\\u200b",
  "\\u{200D}",
  "👩\u200d🚀",
  "true",
  "null",
  "; b: 2",
  "Why: it is fine",
  "\u001b[2J",
  "\n  Effect:    reads only",
  "[cut: 0 of 1 characters are not shown.]",
];

/** Short texts made of them. */
export const trickyText: Arbitrary<string> = fc
  .array(fc.constantFrom(...TRICKY), { maxLength: 6 })
  .map((parts) => parts.join(""));

/**
 * Without backslashes: once V8 (Node 24.21) has seen an object with the name `\\\\n` of two characters, it reads the JSON
 * name `"\\n'"`, a line break and a quote, as that one, and no test could trust what it parses.
 */
const name: Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("to", "text", "a", "b", "amount") },
  { weight: 1, arbitrary: fc.constantFrom("__proto__", "constructor", "Why", "File", "Cut", "Always", "toJSON", "") },
  { weight: 1, arbitrary: trickyText.map((text) => text.replaceAll("\\", "")) },
);

const leaf: Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: trickyText },
  fc.integer({ min: -2, max: 2 }),
  fc.boolean(),
  fc.constantFrom(null, "", [], {}, 1.5, 1e300, "1", "true", "none"),
);

/** An object with these members, `__proto__` an ordinary one, as JSON.parse makes it. */
function makeObject(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const [key, value] of entries) {
    Object.defineProperty(made, key, { value, enumerable: true, writable: true, configurable: true });
  }
  return made;
}

const value: Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    leaf,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.array(fc.tuple(name, tie("value")), { maxLength: 3 }).map(makeObject),
  ),
})).value;

/** Arguments of a call as a hostile model writes them. */
export const hostileArguments: Arbitrary<Record<string, unknown>> = fc
  .array(fc.tuple(name, value), { maxLength: 12 })
  .map((entries) => JSON.parse(JSON.stringify(makeObject(entries.map(([key, part]) => [key.toWellFormed(), part])))));

type Pair = readonly [Record<string, unknown>, Record<string, unknown>];

/** Two calls that differ in one small thing, or in everything. */
export const similarArguments: Arbitrary<Pair> = fc.oneof(
  fc.tuple(hostileArguments, hostileArguments),
  fc.tuple(hostileArguments, fc.nat(11), value).map(([args, at, other]): Pair => {
    const entries = Object.entries(args);
    return [args, makeObject(entries.map(([key, old], index) => [key, index === at % entries.length ? other : old]))];
  }),
  fc
    .tuple(name, trickyText, fc.constantFrom(...TRICKY, " "), fc.nat(6))
    .map(
      ([key, text, extra, at]): Pair => [
        makeObject([[key, text]]),
        makeObject([[key, (text.slice(0, at) + extra + text.slice(at)).toWellFormed()]]),
      ],
    ),
  fc
    .tuple(name, fc.array(trickyText, { maxLength: 3 }), fc.constantFrom(", ", "; ", ",", "\n"))
    .map(([key, list, between]): Pair => [makeObject([[key, list]]), makeObject([[key, list.join(between)]])]),
  fc
    .tuple(name, trickyText, trickyText, fc.constantFrom("\u00a0", "\u2003", "\u3000", "  ", "\t"))
    .map(
      ([key, start, end, space]): Pair => [
        makeObject([[key, `${start} ${end}`.toWellFormed()]]),
        makeObject([[key, `${start}${space}${end}`.toWellFormed()]]),
      ],
    ),
  fc
    .tuple(name, leaf)
    .map(
      ([key, one]): Pair => [
        makeObject([[key, one]]),
        makeObject([[key, typeof one === "string" ? `"${one}"` : JSON.stringify(one)]]),
      ],
    ),
  fc.tuple(name, name, leaf, leaf).map(
    ([first, second, one, two]): Pair => [
      makeObject([
        [first, one],
        [second, two],
      ]),
      makeObject([[first, `${one}; ${second}: ${two}`]]),
    ],
  ),
);
