import { expect, test } from "vitest";
import { parseReference } from "../../../src/plugin/media/locate/parse-reference.ts";
import type { MediaRoot } from "../../../src/plugin/media/open/roots.ts";

const root: MediaRoot = { configured: "/media", canonical: "/media", anchor: undefined };

/** What becomes of `/media/<name>`, before anything is looked up. */
function judge(name: string): string {
  const parsed = parseReference(`/media/${name}`, { list: [root], home: "/home/user", platform: "linux" });
  return parsed.ok ? "allowed" : parsed.code;
}

test.each([
  ["a long s", "credential\u017f.json", "denied_name"],
  ["a Kelvin sign", "\u212aeychains/login.db", "denied_name"],
  ["a joiner at the end", "id_rsa\u200d", "denied_name"],
  ["a soft hyphen", "creden\u00adtials", "denied_name"],
  ["a joiner before the dot", "\u200c.env", "hidden_component"],
  ["a byte order mark before the dot", "a/\ufeff.ssh/config", "hidden_component"],
])("%s, which some file systems take for nothing or for another letter, hides no name", (_, name, code) => {
  expect(judge(name)).toBe(code);
});

test.each(["👩\u200d🚀.png", "❤\ufe0f.png", "می\u200cخواهم.pdf", "Straße.pdf", "x\u017f.png"])(
  "%s is a name",
  (name) => {
    expect(judge(name)).toBe("allowed");
  },
);
