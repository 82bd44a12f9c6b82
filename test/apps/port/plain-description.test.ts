import { expect, test } from "vitest";
import { toPlainDescription } from "../../../src/apps/port/plain-description.ts";

test.each([
  [
    "a link of Markdown",
    "This is the [Asana Platform](https://asana.example/docs) API",
    "This is the Asana Platform API.",
  ],
  ["a link of HTML", "See <a href='https://x.example' rel=\"y\">the docs</a>.", "See the docs."],
  ["a reference and a picture", "![logo](l.png) By [us][1].", "logo By us."],
  ["lines and lists", "# Door\n<p>Opens.</p><ul><li>One</li></ul>\n* Two", "Door Opens. One Two."],
  ["stress and code", "**All** __of__ `it` in snake__case", "All of it in snake__case."],
  ["entities", "Fish &amp; chips &lt;b&gt; &amp;lt;", "Fish & chips <b> &lt;."],
  ["an address", "At <https://x.example/a>", "At https://x.example/a."],
  ["a link that was cut", "Gives access to the [GitHub API](https://docs.git", "Gives access to the GitHub API."],
  ["a tag that was cut", "Made by us. <a href='https://x.ex", "Made by us."],
  ["a sentence", "Door: opens doors.", "Door: opens doors."],
  ["numbers that compare", "If a < b and c > d!", "If a < b and c > d!"],
  ["nothing", "", ""],
])("%s is plain", (_name, text, expected) => {
  expect(toPlainDescription(text)).toBe(expected);
});

test("takes time in proportion to its text", () => {
  for (const part of ["<a ", "[", "[a](", "**", "&", "<", "__"]) toPlainDescription(part.repeat(50_000));
});
