import { parseExactly } from "../../../../src/shared/base/exact-number.ts";

/** The value that a text on the page of a request stands for, by what `docs/approvals.md` says of it. */
export function readExactly(shown: string): unknown {
  return /^(?:["[{\d-]|(?:true|false|null)$)/.test(shown) ? parseExactly(shown) : shown;
}
