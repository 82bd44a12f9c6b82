import { describe, expect, test } from "vitest";
import { findUndocumented } from "./rooms/find-undocumented.ts";

/** Names of the exports that the check refuses in a file with this text. */
function findRefused(text: string): string[] {
  const found = findUndocumented([{ path: "src/shared/base/planted.ts", text }]);
  return found.map(({ message }) => /"(\w+)"/.exec(message)?.[1] ?? message);
}

const COMMENT = "/** A planted comment. */";

describe("doc comments", () => {
  test.each([
    ["a function", "export function planted() {}"],
    ["an asynchronous function", "export async function planted() {}"],
    ["a generator", "export async function* planted() {}"],
    ["a constant", "export const planted = 1;"],
    ["an unpacked constant", "export const { planted } = { planted: 1 };"],
    ["a class", "export class planted {}"],
    ["an abstract class", "export abstract class planted {}"],
    ["an interface", "export interface planted {}"],
    ["a type", "export type planted = string;"],
  ])("%s needs one", (_kind, line) => {
    expect(findRefused(`${line}\n`)).toEqual(["planted"]);
    expect(findRefused(`${COMMENT}\n${line}\n`)).toEqual([]);
    expect(findRefused(`/**\n * A planted comment\n * of two lines.\n */\n${line}\n`)).toEqual([]);
  });

  test.each([
    ["a comment with an empty line below it", `${COMMENT}\n\nexport const planted = 1;\n`],
    ["a plain comment", "/* A planted comment. */\nexport const planted = 1;\n"],
    ["a plain comment below a doc comment", `${COMMENT}\n/* Another. */\nexport const planted = 1;\n`],
    ["a line comment", "// A planted comment.\nexport const planted = 1;\n"],
    ["a comment without a word", "/** */\nexport const planted = 1;\n"],
    ["the comment of another export", `${COMMENT}\nexport const other = 1;\nexport const planted = 2;\n`],
  ])("%s does not count", (_kind, text) => {
    expect(findRefused(text)).toEqual(["planted"]);
  });

  test.each([
    ["a declaration that stays in its file", "function planted() {}\n"],
    ["a re-export", 'export { planted } from "./planted.ts";\nexport type { Other } from "./planted.ts";\n'],
    ["a comment above a suppression", `${COMMENT}\n// biome-ignore lint/x: y\nexport const planted = 1;\n`],
  ])("%s is left alone", (_kind, text) => {
    expect(findRefused(text)).toEqual([]);
  });

  test.each([
    "z.infer<typeof aSchema>",
    "z.input<typeof aSchema>",
    "z.output<typeof aSchema>",
    "(typeof aSchema)[number]",
  ])("a type that is %s needs none below its documented constant", (derived) => {
    const type = `export type Planted = ${derived};\n`;
    expect(findRefused(`${COMMENT}\nconst aSchema = z.object({\n  a: z.string(),\n});\n\n${type}`)).toEqual([]);
    expect(findRefused(`${COMMENT}\nexport const aSchema = z.string();\n${type}`)).toEqual([]);
    expect(findRefused(`const aSchema = z.string();\n${type}`)).toEqual(["Planted"]);
    expect(findRefused(`${COMMENT}\nconst aSchema = z.string();\nconst other = 1;\n${type}`)).toEqual(["Planted"]);
    expect(findRefused(`${COMMENT}\nconst other = z.string();\n${type}`)).toEqual(["Planted"]);
  });

  test("a type of another form needs one", () => {
    const constant = `${COMMENT}\nconst aSchema = z.object({});\n`;
    expect(findRefused(`${constant}export type Planted = Readonly<z.infer<typeof aSchema>>;\n`)).toEqual(["Planted"]);
    expect(findRefused(`${constant}export type Planted = typeof aSchema;\n`)).toEqual(["Planted"]);
  });

  test("a constant needs none on the line after a documented one that it is made from", () => {
    const list = `${COMMENT}\nexport const LIST = ["a"] as const;\n`;
    const schema = "export const listSchema = z.enum(LIST);\n";
    const type = "export type Item = z.infer<typeof listSchema>;\n";
    expect(findRefused(list + schema + type)).toEqual([]);
    expect(findRefused(`${list}\n${schema}${type}`)).toEqual(["listSchema", "Item"]);
    expect(findRefused(`${list}export const listSchema = z.enum(LISTED);\n`)).toEqual(["listSchema"]);
    expect(findRefused(`export const LIST = 1;\n${schema}`)).toEqual(["LIST", "listSchema"]);
  });

  test("a refusal names file and line", () => {
    const [found] = findUndocumented([{ path: "src/a.ts", text: "\n\nexport const planted = 1;\n" }]);
    expect(found).toEqual({ file: "src/a.ts", line: 3, message: expect.stringContaining("planted") });
  });
});
