import { describe, expect, it } from "vitest";
import { createMarkdownWriter } from "../../../../src/service/integrations/notes/notion/blocks-to-markdown.ts";
import { markdownToBlocks } from "../../../../src/service/integrations/notes/notion/markdown-to-blocks.ts";
import type { NewBlock } from "../../../../src/service/integrations/notes/notion/new-block.ts";
import type { BlockNode } from "../../../../src/service/integrations/notes/notion/read-blocks.ts";
import { complete } from "./kit/notion-store.ts";

/** Blocks as Notion answers them after they were written. */
function toNodes(blocks: readonly NewBlock[]): BlockNode[] {
  return blocks.map(({ type, data, children }) => {
    const own = {
      id: "b",
      type,
      has_children: children.length > 0,
      in_trash: false,
      created_time: "",
      last_edited_time: "",
    };
    return { block: { ...own, [type]: complete(data) }, children: toNodes(children), isCut: false };
  });
}

function toMarkdown(nodes: readonly BlockNode[]): string {
  const writer = createMarkdownWriter();
  return nodes.map((node) => writer.write(node)).join("");
}

const kinds = (blocks: readonly NewBlock[]): unknown[] =>
  blocks.map(({ type, children }) => (children.length === 0 ? type : [type, ...kinds(children)]));
const textOf = ({ data }: NewBlock) =>
  (data.rich_text as { text: { content: string } }[]).map((run) => run.text.content);

describe("Markdown that is written to Notion and read back", () => {
  it.each([
    "Plain text, with 2 * 3 and snake_case.",
    "read_the_log(), my__own__name and größe_in_mm stay as they are.",
    "**bold**, *italic*, ~~gone~~, `code`, ***both*** and [a link](https://example.org/a_b).",
    "https://example.org/a_b_c stays an address.",
    "# One\n\n## Two\n\n### Three\n\n#### Four",
    "- one\n- two\n  - inside\n    - deeper\n- three",
    "1. first\n2. second\n   1. inside\n3. third",
    "- [ ] open\n- [x] done\n  - [ ] inside",
    "- item\n\n  with a second paragraph\n\n  ```python\n  x = 1\n  ```\n- next",
    "> quoted\n>\n> twice\n>\n> - with a list",
    "```typescript\nconst a = `b`;\n\n# no heading\n```",
    "````markdown\n```\ninner\n```\n````",
    "---",
    "| a | b |\n| --- | --- |\n| **1** | x \\| y |\n| 2 |  |",
    "![A picture](https://example.org/a.png)",
    "$$\nE = mc^2\n$$",
    "First line  \nsecond line",
    "<!-- flow_-a_b--001 -->",
    "<div>html stays</div>",
    "1\\. no list\n\n\\# no heading\n\n\\- no item\n\n\\> no quote",
    "Stars \\*here\\* and \\`ticks\\` and \\[brackets\\] and \\\\ too.",
    "Grüße 🎉 *für* alle",
    "[relative](other.md) stays text".replace("[relative]", "\\[relative\\]"),
  ])("%j is the same", (markdown) => {
    expect(toMarkdown(toNodes(markdownToBlocks(markdown)))).toBe(markdown);
  });

  it.each([
    ["Title\n=====\n\nSub\n---", "# Title\n\n## Sub"],
    ["* a\n* b", "- a\n- b"],
    ["1) a\n2) b", "1. a\n2. b"],
    ["1. a\n  - b\n2. c", "1. a\n   - b\n2. c"],
    ["- a\n\n- b", "- a\n- b"],
    ["- a\nlazy", "- a  \n  lazy"],
    ["    indented code", "```\nindented code\n```"],
    ["```brainfuck\n+\n```", "``` brainfuck\n+\n```".replace("``` ", "```")],
    ["__strong__ and _soft_", "**strong** and *soft*"],
    ["line one\nline two", "line one  \nline two"],
    ["a\\\nb", "a  \nb"],
    ["<https://example.org/>", "https://example.org/"],
    ["text\n***\ntext", "text\n\n---\n\ntext"],
    ["###### Six", "#### Six"],
    ["[relative](other.md)", "\\[relative\\](other.md)"],
    ["a | b\n--|--\n1 | 2 | 3", "| a | b |  |\n| --- | --- | --- |\n| 1 | 2 | 3 |"],
    ["windows\r\n\r\nlines", "windows\n\nlines"],
    ["", ""],
  ])("%j becomes %j", (markdown, expected) => {
    expect(toMarkdown(toNodes(markdownToBlocks(markdown)))).toBe(expected);
  });

  it("loses no letter of anything, however odd", () => {
    const odd = [
      "**a",
      "a**b*c**d*",
      "[x](",
      "![",
      "`",
      "``a`",
      "> ",
      "- ",
      "1.",
      "|",
      "| a\n|-",
      "```",
      "~~~x",
      "$$ a",
      "<!-- a",
      "#",
      "\\",
      "* *",
      "[[a]](b)",
      "_a__b_",
      "- - - a",
      "-\n  x",
    ];
    for (const text of [...odd, odd.join("\n"), odd.join("\n\n"), odd.join(" ")]) {
      const letters = (one: string) => (one.match(/[a-z]/g) ?? []).sort().join("");
      expect([text, letters(toMarkdown(toNodes(markdownToBlocks(text))))]).toEqual([text, letters(text)]);
    }
  });
});

it.each([
  ["deep quotes", ">".repeat(200_000)],
  ["deep lists", "- ".repeat(200_000)],
  ["stairs", Array.from({ length: 2000 }, (_, index) => `${" ".repeat(index)}- x`).join("\n")],
  ["open marks", "**a *b __c _d ~~e `f [g ".repeat(10_000)],
  ["stars", `*${"**a**".repeat(50_000)}`],
  ["ticks", "`".repeat(200_000)],
  ["spaces", `# ${" ".repeat(200_000)}x\n\`\`\`${" ".repeat(200_000)}x`],
  ["rules", `|\n-${" ".repeat(200_000)}x`],
  ["comments", "<!-- a\n".repeat(20_000)],
  ["formulas", "$$ a\n".repeat(20_000)],
  ["empty lines", `- a${"\n".repeat(200_000)}b`],
  ["tables", "| a\n".repeat(50_000)],
])(
  "large and odd text does not stop the service: %s",
  (_name, markdown) => {
    expect(markdownToBlocks(markdown).length).toBeGreaterThan(0);
  },
  5000,
);

describe("the limits of one block", () => {
  it("no run is longer than 2,000 characters, and no character is torn", () => {
    const [block, ...others] = markdownToBlocks("🎉".repeat(2500));
    const runs = textOf(block as NewBlock);
    expect(others).toEqual([]);
    expect(runs.every((run) => run.length <= 2000 && run.isWellFormed())).toBe(true);
    expect(runs.join("")).toBe("🎉".repeat(2500));
    expect(
      markdownToBlocks("x".repeat(4001))
        .flatMap(textOf)
        .map((run) => run.length),
    ).toEqual([2000, 2000, 1]);
  });

  it("more text than one block takes follows in others", () => {
    const text = "word ".repeat(50_000).trim();
    const blocks = markdownToBlocks(text);
    expect(blocks.length).toBeGreaterThan(1);
    expect(blocks.flatMap(textOf).join("")).toBe(text);
    const code = markdownToBlocks(`\`\`\`python\n${text}\n\`\`\``);
    expect(new Set(code.map(({ type }) => type))).toEqual(new Set(["code"]));
    expect(code.flatMap(textOf).join("")).toBe(text);
  });

  it("a formula that is too long becomes code, a cell that is too long makes the table text", () => {
    expect(kinds(markdownToBlocks(`$$\n${"x".repeat(1001)}\n$$`))).toEqual(["code"]);
    const table = (cell: string) => `| a | b |\n| --- | --- |\n| 1 | ${cell} |`;
    expect(kinds(markdownToBlocks(table("*x* ".repeat(60))))).toEqual([["table", "table_row", "table_row"]]);
    expect(kinds(markdownToBlocks(table("x".repeat(200_000))))).not.toContainEqual(["table", "table_row", "table_row"]);
  });
});

describe("blocks that Markdown has no form for", () => {
  const node = (type: string, own: unknown, children: BlockNode[] = []): BlockNode => ({
    block: {
      id: "1f0e",
      type,
      has_children: children.length > 0,
      in_trash: false,
      created_time: "",
      last_edited_time: "",
      [type]: complete(own),
    },
    children,
    isCut: false,
  });
  const text = (content: string) => [{ text: { content } }];

  it.each([
    [
      node("video", { type: "external", external: { url: "https://example.org/v" }, caption: [] }),
      "[Notion: video](https://example.org/v)",
    ],
    [
      node("file", {
        type: "file",
        file: { url: "https://s3/secret", expiry_time: "x" },
        name: "plan.pdf",
        caption: text("The plan"),
      }),
      '[Notion: file "plan.pdf"] The plan',
    ],
    [node("image", { type: "file", file: { url: "https://s3/secret" }, caption: [] }), "[Notion: image]"],
    [node("bookmark", { url: "https://example.org/", caption: text("Here") }), "[Here](https://example.org/)"],
    [node("child_page", { title: "Sub [1]" }), "[Page: Sub  1 ](https://www.notion.so/1f0e)"],
    [node("child_database", { title: "Tasks" }), "[Database: Tasks](https://www.notion.so/1f0e)"],
    [node("link_to_page", { type: "page_id", page_id: "ab-cd" }), "[Linked page](https://www.notion.so/abcd)"],
    [node("table_of_contents", { color: "default" }), "[Notion: table of contents]"],
    [node("something_new", { rich_text: text("words") }), "[Notion: something new] words"],
    [node("unsupported", {}), "[Notion: unsupported]"],
    [node("callout", { rich_text: text("Mind this"), icon: { type: "emoji", emoji: "💡" } }), "> 💡 Mind this"],
    [
      node("toggle", { rich_text: text("More") }, [node("paragraph", { rich_text: text("inside") })]),
      "- More\n\n  inside",
    ],
    [
      node("column_list", {}, [
        node("column", {}, [node("paragraph", { rich_text: text("left") })]),
        node("column", {}, [node("paragraph", { rich_text: text("right") })]),
      ]),
      "left\n\nright",
    ],
    [node("synced_block", { synced_from: null }, [node("paragraph", { rich_text: text("same") })]), "same"],
    [{ ...node("toggle", { rich_text: text("deep") }), isCut: true }, "- deep\n\n  [Notion: more, nested too deep]"],
  ])("are named or shown: %#", (block, markdown) => {
    expect(toMarkdown([block])).toBe(markdown);
  });

  it("mentions and formulas within a line stay readable", () => {
    const run = (type: string, plain_text: string, more = {}) => ({ type, plain_text, href: null, ...more });
    const rich_text = [
      run("mention", "@Ana", { mention: {} }),
      run("text", " computes "),
      run("equation", "x^2", { equation: { expression: "x^2" } }),
      run("mention", " Plan", { href: "/0a1b" }),
    ];
    const block = { ...node("paragraph", {}).block, paragraph: { rich_text } };
    expect(toMarkdown([{ block, children: [], isCut: false }])).toBe(
      "@Ana computes $x^2$ [Plan](https://www.notion.so/0a1b)",
    );
  });
});
