import { describe, expect, test } from "vitest";
import { convertDocument } from "../../../src/apps/openapi/convert-document.ts";

const key = (name: string) => ({ type: "apiKey", in: "header", name });
const SCHEMES = {
  key: key("X-Key"),
  app: key("X-App"),
  bearerAuth: { type: "http", scheme: "bearer" },
  pat: { type: "http", scheme: "bearer" },
  login: { type: "http", scheme: "basic" },
};

/** The form of a document with one operation for each security requirement. */
function readForm(security: unknown[], given: { takesToken?: boolean } = {}) {
  const paths = Object.fromEntries(security.map((one, index) => [`/p${index}`, { get: { security: one } }]));
  const document = { openapi: "3.1.0", info: { title: "Door" }, components: { securitySchemes: SCHEMES }, paths };
  const base = { address: "https://door.example.org", parts: [], isPrivate: false };
  return convertDocument(document, "door", { name: undefined, takesToken: given.takesToken === true, base }).content;
}

const choicesOf = ({ settingsForm }: ReturnType<typeof readForm>) =>
  settingsForm.find(({ kind }) => kind === "choice")?.options?.map(({ label }) => label);

describe("the form says in words what is needed", () => {
  const ONE = "Only the fields of the way that you choose are needed.";
  const SOME = "Only the fields of the way that you choose are needed; those of others open more actions.";
  test.each([
    ["one of several", [[{ key: [] }, { bearerAuth: [] }]], ["Key in the header X-Key", "Token"], ONE],
    [
      "two together, or another",
      [[{ key: [], app: [] }, { login: [] }]],
      ["Key in the header X-Key and Key in the header X-App", "User name and password"],
      ONE,
    ],
    [
      "others for other actions",
      [[{ key: [] }], [{ bearerAuth: [] }], [{ bearerAuth: [] }], []],
      ["Token (for 3 of 4 actions)", "Key in the header X-Key (for 2 of 4 actions)", "Not at all (for 1 of 4 actions)"],
      SOME,
    ],
    ["two of a kind", [[{ bearerAuth: [] }, { pat: [] }]], ["Token “bearerAuth”", "Token “pat”"], ONE],
    ["none for some", [[{ key: [] }], []], undefined, "Without it, 1 of 2 actions can be used."],
    ["a choice to give none", [[{ key: [] }, {}]], undefined, "Without it, all actions can be tried."],
  ])("%s", (_what, security, choices, words) => {
    const form = readForm(security);
    expect([choicesOf(form), form.settingsHelp]).toEqual([choices, words]);
    expect(form.settingsForm.every(({ optional }) => optional === true)).toBe(true);
  });

  test("two that are needed together are both needed", () => {
    const { settingsHelp, settingsForm } = readForm([[{ key: [], app: [] }]]);
    expect([settingsHelp, settingsForm.map(({ label, optional }) => [label, optional])]).toEqual([
      undefined,
      [
        ["Key “key”", undefined],
        ["Key “app”", undefined],
      ],
    ]);
  });

  test("one that every action needs is needed, without more words", () => {
    const { settingsHelp, settingsForm } = readForm([[{ key: [] }]]);
    expect(settingsHelp).toBeUndefined();
    expect(settingsForm).toEqual([{ name: "key", label: "Key", kind: "secret", help: "Sent as the header X-Key." }]);
  });

  test("fields of other ways than the first are folded away", () => {
    const { settingsForm } = readForm([[{ key: [] }, { bearerAuth: [] }, { login: [] }]]);
    expect(settingsForm.map(({ label, group }) => [label, group])).toEqual([
      ["How do you sign in?", undefined],
      ["Key", undefined],
      ["Token", "Token"],
      ["User name", "User name and password"],
      ["Password", "User name and password"],
    ]);
  });

  test("a token that the document keeps silent about", () => {
    const { settingsHelp, settingsForm } = readForm([[]], { takesToken: true });
    expect([settingsForm.map(({ label }) => label), settingsHelp]).toEqual([
      ["Token"],
      "Without it, all actions can be tried.",
    ]);
  });
});
