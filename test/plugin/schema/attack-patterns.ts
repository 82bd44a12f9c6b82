import { parentPort } from "node:worker_threads";
import fc from "fast-check";
import { within } from "../../../src/shared/base/within.ts";
import { isQuickPattern, readPattern } from "../../../src/shared/schema-check/read-pattern.ts";

/** Patterns tried, always the same ones. */
const RUNS = 4_000;
/** Characters of a text, and milliseconds for those of a pattern that is not quick: only compiling it adds to them. */
const LENGTH = 1_000;
const LIMIT_MS = 2;

const atom = fc.constantFrom(
  ..."ab-x.1é",
  ...["[a-z]", "[ab]", "[^a]", "[^-]", "\\d", "\\w", "\\s", "\\S", "\\W", "[^]", "[]", "\\u{1F600}", "\\1"],
  ...["\\p{L}", "\\P{L}", "[\\p{L}\\p{N}]", "[😀𐐀𠀀]"],
);
const assertion = fc.constantFrom("^", "$", "\\b", "\\B", "(?=a)", "(?!.*b)", "(?<=a+)", "(?<!x)");
const count = fc.tuple(fc.nat(300), fc.nat(300), fc.constantFrom("{n}", "{n,}", "{n,m}"));
const quantifier = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("", "", "", "*", "+", "?", "*?", "+?", "{2}", "{1,3}", "{2,}") },
  count.map(([low, more, form]) => form.replace("n", `${low}`).replace("m", `${low + more}`)),
);
const { pattern } = fc.letrec<{ pattern: string; alternatives: string; part: string }>((tie) => ({
  part: fc.oneof(
    { depthSize: "small", withCrossShrink: false },
    { weight: 4, arbitrary: fc.tuple(atom, quantifier).map((texts) => texts.join("")) },
    { weight: 1, arbitrary: assertion },
    { weight: 4, arbitrary: fc.tuple(tie("alternatives"), quantifier).map(([inner, times]) => `(?:${inner})${times}`) },
  ),
  alternatives: fc
    .tuple(
      fc.array(tie("part"), { maxLength: 2 }),
      fc.array(fc.array(tie("part"), { maxLength: 3 }), { minLength: 1, maxLength: 3 }),
    )
    .map(([prefix, ends]) => ends.map((end) => [...prefix, ...end].join("")).join("|")),
  pattern: fc
    .tuple(
      fc.constantFrom("^", "^", ""),
      fc.array(tie("part"), { minLength: 1, maxLength: 5 }),
      fc.constantFrom("$", ""),
    )
    .map(([start, parts, end]) => `${start}${parts.join("")}${end}`),
}));

/** Texts that come as close as possible to matching, over and over, and fail at their end. */
function* attack(source: string, length: number): Generator<string> {
  const own = [...new Set(source.replace(/\\.|[()[\]{}*+?|^$\d,<=!:]/gu, ""))].slice(0, 4);
  const letters = [...own, "a", "é", "😀"];
  const units = letters.flatMap((letter) => [letter, ...letters.map((other) => `${letter}${letter}${other}`)]);
  for (const unit of units) {
    const text = unit.repeat(Math.ceil(length / unit.length)).slice(0, length - 1);
    yield text;
    yield `${text}!`;
  }
}

let quick = 0;
let limited = 0;
for (const source of fc.sample(pattern, { seed: 20_261_120, numRuns: RUNS })) {
  const read = readPattern(source);
  if (read === undefined) continue;
  const expression = new RegExp(read, "u");
  parentPort?.postMessage({ source });
  const run = () => {
    for (const text of attack(read, LENGTH)) expression.test(text);
  };
  if (isQuickPattern(read)) {
    quick++;
    run();
  } else {
    limited++;
    within(LIMIT_MS, run);
  }
}
parentPort?.postMessage({ quick, limited });
