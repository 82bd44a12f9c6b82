import { describe, expect, it } from "vitest";
import { stripHtml } from "../../../src/apps/text/html-text.ts";

describe("blocks, cells and lines", () => {
  it.each([
    ["<table><tr><td>Total</td><td>100</td></tr></table>", "Total\t100"],
    ["<table><tr><th>A<th>B<tr><td>1<td>2</table>end", "A\tB\n1\t2\nend"],
    ["<table><thead><tr><td>A</td></tr></thead><tbody><tr><td>1</td></tr></tbody></table>", "A\n1"],
    ["<td><table><tr><td><p>in</p></td></tr></table></td><td>out</td>", "in\nout"],
    ["<dl><dt>Name<dd>Ann<dt>Town<dd>Bonn</dl>", "Name\nAnn\nTown\nBonn"],
    ["<ul><li>a<li>b<ul><li>c</ul></ul>d", "a\nb\nc\nd"],
    ["a<hr>b<blockquote>c</blockquote>d<section>e</section>f", "a\nb\nc\nd\ne\nf"],
    ["<select><option>a<option>b</select>c", "a\nb\nc"],
    ["<button>Yes</button><button>No</button>", "Yes No"],
    ["a<br>b<br><br>c<br></p><p>d</p>", "a\nb\n\nc\nd"],
    ["one\n  two\t three <b> four</b>five", "one two three fourfive"],
    ["a<b>b</b>c <i>d</i> e", "abc d e"],
    ["<pre>if (a &lt; b)\n  x</pre>y", "if (a < b)\n  x\ny"],
    ["<caption>T</caption><legend>L</legend><figcaption>F</figcaption>", "T\nL\nF"],
    ["<h1>A</h1><h2>B</h2>C", "A\nB\nC"],
    ["<div>a</div>b<div>c</div>", "a\nb\nc"],
    ['<p><img src="x.png" alt="Logo"></p>', "Logo"],
    ['A<img alt="">B<img>C <img alt="D">', "ABC D"],
    ['<a href="https://x.example/"><img alt="Shop"></a>', "Shop (https://x.example/)"],
    ["<![if !mso]>a<![endif]><!--[if mso]>b<![endif]-->c", "ac"],
    ["&zwnj;&nbsp;&zwnj;&nbsp;&zwnj;&nbsp;<p>Hi</p>&shy;", "Hi\n\u00ad"],
    ["👩\u200d👩\u200d👧\u200d👦", "👩\u200d👩\u200d👧\u200d👦"],
  ])("reads %j as %j", (html, text) => {
    expect(stripHtml(html)).toBe(text);
  });
});

describe("what is not shown", () => {
  it.each([
    '<div style="display:none">X</div>Hi',
    '<div STYLE="color:red; DISPLAY : none !important">X<div>Y</div></div>Hi',
    "<p hidden>X</p>Hi",
    "<p hidden>X<p>Hi",
    "<ul><li hidden>X<li>Hi</ul>",
    "<ul><li hidden><ul><li>X</ul>Y<li>Hi</ul>",
    "<table><tr hidden><td>X<td>Y<tr><td>Hi</table>",
    "<table><tr><td hidden>X</tr><tr><td>Hi</table>",
    "<table><tr><td hidden>X</table>Hi",
    '<span style="visibility:hidden">X<b>Y</b></span>Hi',
    '<div style="font-size:0">X<b style="font-size:12px">Hi</b>Y</div>',
    '<span style="font:0/0 a">X</span>Hi',
    '<span style="opacity:0">X</span>Hi',
    '<span style="opacity: 0.0;x:y">X</span>Hi',
    '<span style="color:transparent">X</span>Hi',
    '<div style="max-height:0px;overflow:hidden">X</div>Hi',
    '<div style="position:absolute;left:-9999px">X</div>Hi',
    '<div style="text-indent:-1000em">X</div>Hi',
    '<div style="dis\\70lay/* */:none">X</div>Hi',
    '<img style="display:none" alt="X">Hi',
    '<a style="display:none" href="https://x.example/">X</a>Hi',
    '<style>.pre , div#x{display:none}</style><div class="a pre">X</div><div id=x>Y</div><p id=x>Hi</p>',
    "<p class=h>X</p>Hi<style>@media print{.p{display:none}} .h{display:none}</style>",
    "<style>@media (max-width:600px){.wide{display:none}}</style><p class=wide>Hi",
    "<style>.wide{display:none}@media (min-width:600px){.wide{display:block}}</style><p class=wide>Hi",
    "<template>X</template><noscript>Hi</noscript><script>X</script><iframe>X</iframe><title>X</title>",
    '<p style="display:none"><p style="display:block">Hi',
  ])("is left out of %j", (html) => {
    expect(stripHtml(html)).toBe("Hi");
  });

  it.each([
    '<div style="font-size:0"><span style="font-size:16px">Hi</span></div>',
    '<div style="font-size:0.9em;opacity:0.5;opacity:1;left:-10px;height:0">Hi</div>',
    '<div style="display:block;background:url(display:none)">Hi</div>',
    '<div aria-hidden="true">Hi</div>',
    '<br style="display:none">Hi',
    '<input type="hidden" hidden value="x">Hi',
    "</p></div>Hi",
    "<div hidden></div>Hi",
    '<div data-x="display:none" title="hidden">Hi',
  ])("keeps what is shown in %j", (html) => {
    expect(stripHtml(html)).toBe("Hi");
  });
});

describe("addresses of links", () => {
  it.each([
    ['<a href="/a">here</a>', "https://site.example/dir/", "here (https://site.example/a)"],
    ['<a href="b?c">here</a>', "https://site.example/dir/", "here (https://site.example/dir/b?c)"],
    ['<a href="#top">here</a>', "https://site.example/dir/", "here"],
    ['<base href="https://b.example/x/"><a href="c">here</a>', undefined, "here (https://b.example/x/c)"],
    ['<a href="/a">here</a>', undefined, "here"],
    ['<a href="https://x.example/"> </a>', undefined, "(https://x.example/)"],
    [
      '<td><a href="https://x.example/1">A</a></td><td><a href="https://x.example/2">B</a></td>',
      undefined,
      "A (https://x.example/1)\tB (https://x.example/2)",
    ],
  ])("of %j from %j", (html, base, text) => {
    expect(stripHtml(html, base)).toBe(text);
  });
});

describe("hostile HTML", () => {
  it.each([
    "<b>",
    "</x>",
    "<b></x>",
    "<p hidden>",
    "<div style='x'>",
    "<style>",
    "<style>{",
    "<a href=x>",
    "&#x",
    "<td>",
    "\u200b \u200b",
    "<div style='/*'>",
    "<p style='font-size:0'>",
    " \n",
  ])("of a megabyte of %j is read", (piece) => {
    // Work that grows with the square of the length would take minutes for this.
    expect(stripHtml(`begin${piece.repeat(1_000_000 / piece.length)}`)).toMatch(/^begin/);
  });
});
