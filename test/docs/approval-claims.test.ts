import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { PACKAGE_ROOT } from "../package/read-package.ts";
import { APPROVALS, type Claim, README } from "./approval-claims.ts";

/** Every promise about approvals stands under its heading, and has a test that says so in its title. */

const read = (path: string) => readFileSync(join(PACKAGE_ROOT, path), "utf8");
/** A text in one line, without the targets of its links. */
const flatten = (text: string) =>
  text
    .replaceAll(/\]\([^)]*\)/g, "]")
    .replaceAll(/[[\]]/g, "")
    .replaceAll(/\s+/g, " ");
/** The text of each section of a page, by its heading. */
const sections = (page: string) =>
  new Map(
    page.split(/^#+ /m).map((part) => {
      const [heading = "", ...lines] = part.split("\n");
      return [heading, flatten(lines.join("\n"))];
    }),
  );

const check = (text: string | undefined, [words, file, title]: Claim) => {
  expect(text).toContain(flatten(words));
  expect(read(file)).toContain(title);
};

const page = sections(read("docs/approvals.md"));

describe.each(Object.entries(APPROVALS))("docs/approvals.md, %s", (heading, claims) => {
  test.each(claims)("%s", (...claim) => check(page.get(heading), claim));
});

test.each(README)("README.md: %s", (...claim) => check(flatten(read("README.md")), claim));

test("every heading has its claims, but the list of places where people are asked", () => {
  const told = [...page.keys()].filter((heading) => heading !== "" && heading !== "Where it appears");
  expect(told).toEqual(Object.keys(APPROVALS));
});
