import { describe, expect, test } from "vitest";
import { convertDocument } from "../../../../src/service/added/openapi/convert-document.ts";

const key = (name: string) => ({ type: "apiKey", in: "header", name });
const SCHEMES = {
  key: key("X-Key"),
  app: key("X-App"),
  bearerAuth: { type: "http", scheme: "bearer" },
  login: { type: "http", scheme: "basic" },
};

/** The form of a document with one operation for each security requirement. */
function readForm(security: unknown[], given: { takesToken?: boolean } = {}) {
  const paths = Object.fromEntries(security.map((one, index) => [`/p${index}`, { get: { security: one } }]));
  const document = { openapi: "3.1.0", info: { title: "Door" }, components: { securitySchemes: SCHEMES }, paths };
  const { content } = convertDocument(document, "door", { name: undefined, takesToken: given.takesToken === true });
  return content;
}

describe("the form says in words what is needed", () => {
  test.each([
    [
      "one of several",
      [[{ key: [] }, { bearerAuth: [] }]],
      "One of these is enough: key “key”; or token “bearerAuth”.",
    ],
    [
      "two together, or another",
      [[{ key: [], app: [] }, { login: [] }]],
      "One of these is enough: key “key” with key “app”; or user name and password “login”.",
    ],
    ["all of them", [[{ key: [], app: [] }]], "All of these are needed: key “key” with key “app”."],
    [
      "others for other actions",
      [[{ key: [] }], [{ bearerAuth: [] }], [{ bearerAuth: [] }], []],
      "What is needed depends on the action: key “key” for 1 of 4 actions; token “bearerAuth” for 2 of 4 actions. Without any, 1 of 4 actions can be used.",
    ],
    ["none for some", [[{ key: [] }], []], "Without it, 1 of 2 actions can be used."],
    ["a choice to give none", [[{ key: [] }, {}]], "Without it, all actions can be tried."],
  ])("%s", (_what, security, words) => {
    const { settingsHelp, settingsForm } = readForm(security);
    expect(settingsHelp).toBe(words);
    expect(settingsForm.every(({ optional }) => optional === true)).toBe(true);
  });

  test("one that every action needs is needed, without more words", () => {
    const { settingsHelp, settingsForm } = readForm([[{ key: [] }]]);
    expect(settingsHelp).toBeUndefined();
    expect(settingsForm).toEqual([{ name: "key", label: "Key", kind: "secret", help: "Sent as the header X-Key." }]);
  });

  test("of several each is called by what it is and by the name of the document", () => {
    const { settingsForm } = readForm([[{ key: [] }, { bearerAuth: [] }, { login: [] }]]);
    expect(settingsForm.map(({ label }) => label)).toEqual([
      "Key “key”",
      "Token “bearerAuth”",
      "User name “login”",
      "Password “login”",
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
