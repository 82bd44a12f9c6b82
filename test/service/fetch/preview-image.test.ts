import { describe, expect, it } from "vitest";
import { findPreviewImage, isHtmlPage } from "../../../src/service/fetch/html-page.ts";

import { inPieces } from "../files/envelope.ts";

const PAGE = new URL("https://site.example/posts/1?x=2");
const og = (content: string, property = "og:image") => `<meta property="${property}" content="${content}">`;

async function find(html: string | Uint8Array, size?: number): Promise<string | undefined> {
  return (await findPreviewImage(inPieces(html, size), PAGE))?.href;
}

describe("findPreviewImage", () => {
  it.each([
    [og("https://cdn.example/a.png"), "https://cdn.example/a.png"],
    [og("/a.png?x=1&amp;y=2"), "https://site.example/a.png?x=1&y=2"],
    [og("a.png"), "https://site.example/posts/a.png"],
    [og("//cdn.example/a.png"), "https://cdn.example/a.png"],
    [`<META NAME="OG:Image" CONTENT=' https://cdn.example/a.png '>`, "https://cdn.example/a.png"],
    [og("https://c.example/u.png", "og:image:url"), "https://c.example/u.png"],
    [og("https://c.example/t.png", "twitter:image:src"), "https://c.example/t.png"],
    [og("https://c.example/t.png", "twitter:image") + og("https://c.example/o.png"), "https://c.example/o.png"],
    [og("http://c.example/o.png") + og("https://c.example/s.png", "og:image:secure_url"), "https://c.example/s.png"],
    [og("http://c.example/o.png"), "http://c.example/o.png"],
    [
      og("") + og("data:image/png;base64,AA") + og("javascript:1") + og("https://c.example/o.png"),
      "https://c.example/o.png",
    ],
    [
      `<base href="https://base.example/dir/"><base href="https://no.example/">${og("o.png")}`,
      "https://base.example/dir/o.png",
    ],
    [`${og("o.png")}<base href="/later/">`, "https://site.example/later/o.png"],
    [`<base href="http://[bad">${og("/o.png")}`, "https://site.example/o.png"],
    [og("https://169.254.169.254/latest"), "https://169.254.169.254/latest"],
  ])("in %s finds %s", async (head, expected) => {
    expect(await find(`<!doctype html><html><head>${head}</head><body></body></html>`)).toBe(expected);
    expect(await find(`<html><head>${head}`, 3)).toBe(expected);
  });

  it.each([
    "<html><head></head></html>",
    `<head><!-- ${og("https://c.example/a.png")} --></head>`,
    `<head><script>'${og("https://c.example/a.png")}'</script></head>`,
    `<head><title>${og("https://c.example/a.png")}</title></head>`,
    `<head></head>${og("https://c.example/a.png")}`,
    `<body>${og("https://c.example/a.png")}`,
    `<head><meta property="og:title" content="https://c.example/a.png"></head>`,
    `<head>${og("mailto:a@b.example")}</head>`,
    "",
  ])("finds nothing in %j", async (html) => {
    expect(await find(html)).toBeUndefined();
  });

  it("stops reading at the end of the head, or after 512 KiB", async () => {
    let pieces = 0;
    async function* endless(start: string) {
      yield Buffer.from(start);
      for (;;) {
        pieces += 1;
        yield Buffer.alloc(64 * 1024, " ");
      }
    }
    expect((await findPreviewImage(endless(`<head>${og("/a.png")}</head>`), PAGE))?.pathname).toBe("/a.png");
    expect(pieces).toBe(0);
    expect(await findPreviewImage(endless("<html><head>"), PAGE)).toBeUndefined();
    expect(pieces).toBe(8);
    const late = `<head>${" ".repeat(512 * 1024)}${og("/a.png")}`;
    expect(await find(late)).toBeUndefined();
  });

  it("reads UTF-16 by its byte order mark", async () => {
    const html = `\ufeff<html><head>${og("/a.png")}</head>`;
    expect(await find(Buffer.from(html, "utf16le"))).toBe("https://site.example/a.png");
    expect(isHtmlPage("", Buffer.from(html, "utf16le"))).toBe(true);
    expect(await find(Buffer.from(html, "utf16le").swap16())).toBe("https://site.example/a.png");
  });
});

describe("isHtmlPage", () => {
  it.each([
    ["text/html", "x"],
    ["Text/HTML; charset=utf-8", ""],
    ["application/xhtml+xml", ""],
    ["", "<!DOCTYPE html><p>"],
    ["image/png", "\n \t<HTML lang=en>"],
    ["text/plain", "\ufeff<!doctype   HTML>"],
    ["application/xml", '<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "x">'],
    ["", "<!-- saved --> <!-- twice --><html>"],
    ["", "<head><title>"],
    ["", "<body >"],
  ])("sees a page in %j with %j", (type, start) => {
    expect(isHtmlPage(type, Buffer.from(start))).toBe(true);
  });

  it.each([
    ["text/plain", "<h1>Read me</h1>"],
    ["text/markdown", "<!-- badge -->\n<p align=center>"],
    ["image/svg+xml", '<?xml version="1.0"?><!DOCTYPE svg><svg>'],
    ["text/html5", "x"],
    ["application/pdf", "%PDF-1.7 <html>"],
    ["", "<htmlx>"],
    ["", `${" ".repeat(600)}<html>`],
    ["", "<!-- <html> -->x"],
    ["", "<!-- <html>"],
    // A pattern that tries every way to cut this into comments does not come to an end.
    ["", `${"<!---->".repeat(72)}x`],
    ["", ""],
  ])("sees none in %j with %j", (type, start) => {
    expect(isHtmlPage(type, Buffer.from(start))).toBe(false);
  });
});
