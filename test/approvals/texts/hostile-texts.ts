/** Texts that hide, move or imitate what a card says, of every kind a renderer or a screen knows. */

const ESC = "\u001b";
const BIDI = [..."\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"];
const NOTHING = [
  ..."\u00ad\u034f\u115f\u1160\u17b4\u180e\u200b\u200c\u200d\u2060\u2061\u2064\u206a\u2800\u3164\ufe0f\ufeff\uffa0",
];
const ASTRAL = ["\u{1d173}", "\u{e0001}", "\u{e0041}\u{e007f}", "\u{e0101}", "\u{1bca0}"];
const SPACES = [..."\u00a0\u1680\u2000\u2003\u2007\u200a\u202f\u205f\u3000\t\u000b\f"];
const ENDS = ["\n", "\r", "\r\n", "\n\r", "\u0085", "\u2028", "\u2029", "\n\n\n"];
const MARKS = [..."\u0300\u0336\u0338\u0345\u0489\u20d2\u20dd\u20de\u20e3\u0e47\u1ab0\u1dc0"];
const CONTROLS = [..."\u0000\u0001\u0007\b\u000e\u001a\u001b\u007f\u0080\u009b\u009d"];

export const BIDI_TEXTS: readonly string[] = BIDI.flatMap((sign) => [
  `to: ann@ex.org${sign}gro.live@yrollam`,
  `${sign}abc${sign}`,
  `invoice${sign}fdp.exe`,
]);

export const UNSEEN_TEXTS: readonly string[] = [...NOTHING, ...ASTRAL, ...CONTROLS].flatMap((sign) => [
  `pay${sign}pal`,
  `${sign}`,
  `end${sign.repeat(40)}`,
]);

export const COMBINING_TEXTS: readonly string[] = [
  ...MARKS.flatMap((mark) => [`no${mark}t paid`, mark, `a${mark.repeat(60)}b`]),
  ...["é", "e\u0301", "ﬁ", "Å", "A\u030a", "ﷺ".repeat(30), "Z̸a̷l̶g̵o̴", "각", "\u1100\u1161\u11a8"],
];

export const SPACE_TEXTS: readonly string[] = [
  ...SPACES.flatMap((space) => [`a${space}b`, `ok${space.repeat(200)}bcc: eve@evil.example`, `${space}a`]),
  ...ENDS.flatMap((end) => [`ok${end}to: eve@evil.example`, `ok${end.repeat(80)}Approve?`, `a${end}`, `${end}a`]),
  ...[" ", "  ", " a", "a ", "a  b", "", `a${" ".repeat(500)}b`],
];

export const ANSI_TEXTS: readonly string[] = [
  ...["[2J", "[1A[2K", "[8m", "[30;40m", "[?25l", "[999;999H", "c", "[3J", "(0", "#8", "[6n", "[5i"].map(
    (code) => `a${ESC}${code}hidden${ESC}[0m`,
  ),
  ...[
    `${ESC}]8;;https://evil.example${ESC}\\bank${ESC}]8;;${ESC}\\`,
    `${ESC}]0;Approved\u0007`,
    `${ESC}]52;c;ZXZpbA==\u0007`,
  ],
  ...["\u009b2J", "\u009d0;x\u009c", "\\u001b[2J", "\\x1b[2J", "^[[2J", "a\rb", "\b\b\b\bevil", "\u000e\u000f"],
];

export const MARKDOWN_TEXTS: readonly string[] = [
  ...[
    "```",
    "````",
    "```\n",
    "\n```\n",
    "~~~",
    "`",
    "``",
    "``` js\n",
    "> ",
    "# x",
    "\n# x\n",
    "---",
    "\n***\n",
    "====",
  ],
  ...[
    "![x](https://evil.example/y)",
    "[bank](https://evil.example)",
    "[a]: https://evil.example",
    "<https://evil.example>",
  ],
  ...[
    "**to**",
    "_to_",
    "~~to~~",
    "||to||",
    "*",
    "|a|b|\n|-|-|\n|1|2|",
    "- [x] yes",
    "1. a",
    "\\",
    "\\*",
    "a\\\nb",
    "&nbsp;",
  ],
  ...[
    "[^1]\n\n[^1]: x",
    "$x$",
    "$$\nx\n$$",
    ":eyes:",
    "<!-- x -->",
    "[//]: # (hidden)",
    "@everyone",
    "#channel",
    "<@U123>",
  ],
  ..."*_~`|>#[]()!\\".split("").map((sign) => `${sign}to${sign} eve ${sign}${sign}x${sign}${sign}`),
];

export const HTML_TEXTS: readonly string[] = [
  ...[
    "<b>",
    "</b>",
    "<img src=x onerror=alert(1)>",
    "<style>*{display:none}</style>",
    "<!--",
    "-->",
    "<script>",
    "</script>",
  ],
  ...["</pre>", "</code>", "</textarea>", "</title>", "<details>", "<template>", "<noscript>", "<plaintext>", "<xmp>"],
  ...[
    "&lt;b&gt;",
    "&#8203;",
    "&amp;",
    "&",
    "&#x202e;",
    "&zwnj;",
    "<svg/onload=x>",
    "<a href='javascript:x'>a</a>",
    "<![CDATA[x]]>",
  ],
  ...[
    "<div style='position:fixed;inset:0'>ok</div>",
    "<span hidden>bcc: eve</span>",
    "{{x}}",
    "\u0024{x}",
    "<%= x %>",
    "{% x %}",
  ],
];

/** Parts of our own card, and of the cards of others. */
export const LOOK_ALIKES: readonly string[] = [
  ...[
    "Why: it is fine",
    "Effect    │ reads only",
    "\nEffect    │ reads only",
    "          │ to: ann@ex.org",
    "│",
    "─".repeat(40),
  ],
  ...[
    "Approve?  │ drive_list_files, reads only, Work",
    "\nApproval needed\nTool      │ drive_list_files",
    "Files     │ none",
  ],
  ...[
    "NOT COMPLETE: 3 characters are missing.",
    "[cut: 1 of 2 characters]",
    "[left out: check]",
    "More: /svc show K7PM2QXA",
  ],
  ...[
    "\n\n[a]pprove, [e]dit, [d]ecline, always? ",
    "…redacted…",
    "[redacted]",
    "***",
    "svc_live_[redacted]",
    "…",
    "+3 more",
  ],
  ...[
    "; bcc: eve@evil.example",
    ", to: eve",
    "\\n",
    "\\u200b",
    "\\\\n",
    '"',
    "'",
    '","bcc":["eve"],"x":"',
    "null",
    "true",
    "1",
    "[]",
    "{}",
  ],
  ...[
    '"quoted"',
    '{"a":1}',
    "[1,2]",
    "1e3",
    "-0",
    "File: a.txt, text/plain, 3 bytes",
    "Always: this tool",
    "none",
    "to: x",
  ],
];

export const LONG_TEXTS: readonly string[] = [
  ...[79, 80, 81, 400, 479, 480, 481, 511, 512, 513, 1_000, 3_999, 4_000, 4_096, 20_000].map((size) =>
    "x".repeat(size),
  ),
  ...[60, 500, 5_000].flatMap((size) =>
    ["漢", "👩‍🚀", "é", "ﷺ", "\u200b", "\n", "a\n", "ab ", "|", "`", "<b>"].map((one) => one.repeat(size)),
  ),
  ...[10, 100, 1_000].map((size) => `Dear all,\n${"words of a mail ".repeat(size)}\nand pay Eve.`),
];
