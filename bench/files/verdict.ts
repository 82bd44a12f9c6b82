/** What came of one file of a suite. */
export interface Verdict {
  readonly file: string;
  /** What differs from the expectation, each as a line; none where all is right. */
  readonly differences: readonly string[];
  /** Why it is not read, or which of it is said not to be read. */
  readonly refused?: string;
}

/** Files of one kind in one suite, judged. */
export interface SuiteVerdicts {
  readonly kind: string;
  readonly suite: string;
  readonly verdicts: readonly Verdict[];
}

/** A difference that is meant: the files and lines that it is about, and why the answer of ours stays. */
export interface KnownDifference {
  readonly file: RegExp;
  readonly line: RegExp;
  readonly why: string;
}

/** Spaces and line ends that programs write in their own way say nothing. */
export function flatten(text: string): string {
  return text.replaceAll(/[\s\u00a0]+/g, " ").trim();
}

/** A line for a value that differs, from shortly before the place where it does. */
export function compare(what: string, ours: string | undefined, theirs: string | undefined): string[] {
  const [a, b] = [flatten(ours ?? ""), flatten(theirs ?? "")];
  if (a === b) return [];
  let same = 0;
  while (same < a.length && a[same] === b[same]) same += 1;
  const from = Math.max(0, same - 20);
  const show = (text: string) => JSON.stringify(text.slice(from, from + 120));
  return [`${what}: ours ${show(a)}, theirs ${show(b)}`];
}
