import { readTokens, toSet } from "./html-tokens.ts";

/** Elements whose content is nothing to read. */
const UNSEEN = toSet("script style title template iframe noframes noembed datalist xml");
const VOID = toSet("area base br col embed hr img input link meta source track wbr");
/** Elements that others in them do not end. */
const CONTAINERS = toSet("ul ol dl table select");
/** Elements that end with the next of these, without a tag for it. */
const ENDED_BY: Readonly<Record<string, ReadonlySet<string>>> = {
  p: toSet("p div ul ol dl table h1 h2 h3 h4 h5 h6 blockquote pre section article form hr"),
  li: toSet("li"),
  dt: toSet("dt dd"),
  dd: toSet("dt dd"),
  td: toSet("td th tr"),
  th: toSet("td th tr"),
  tr: toSet("tr"),
  option: toSet("option"),
};
/** Characters of a style that are looked at. */
const MAX_STYLE = 4000;

/** What styles say that hides an element for good, whatever stands in it. */
const HIDES =
  /(?:^|;)\s*(?:display\s*:\s*none|opacity\s*:\s*0*\.?0*\s*(?:[;!]|$)|(?:text-indent|left|top|margin-left)\s*:\s*-\d{3,}|clip\s*:\s*rect\(\s*0)/;
const NO_SIZE = /(?:^|;)\s*(?:max-)?(?:height|width)\s*:\s*0(?:px|pt|em|%)?\s*(?:[;!]|$)/;
const CLIPS = /(?:^|;)\s*overflow(?:-[xy])?\s*:\s*(?:hidden|clip)/;
/** What hides a text until an element in it says another thing. */
const UNTIL_SAID: readonly (readonly [name: string, says: RegExp, hides: RegExp])[] = [
  ["visibility", /(?:^|;)\s*visibility\s*:/, /(?:^|;)\s*visibility\s*:\s*(?:hidden|collapse)/],
  [
    "size",
    /(?:^|;)\s*font(?:-size)?\s*:/,
    /(?:^|;)\s*font(?:-size)?\s*:\s*0(?:\.0+)?(?:px|pt|em|rem|%)?\s*(?:[;!/]|$)/,
  ],
  ["color", /(?:^|;)\s*color\s*:/, /(?:^|;)\s*color\s*:\s*transparent/],
];

function hides(style: string): boolean {
  return HIDES.test(style) || (NO_SIZE.test(style) && CLIPS.test(style));
}

/** In lower case, without comments and escapes, which could split a word. */
function flattenStyle(style: string): string {
  return style
    .slice(0, MAX_STYLE)
    .replaceAll(/\/\*[^*]{0,500}\*\//g, "")
    .replaceAll(/\\([\da-f]{1,6})\s?/gi, (_, code: string) =>
      String.fromCodePoint(Math.min(Number.parseInt(code, 16), 0xffff)),
    )
    .toLowerCase();
}

/** Selectors such as `p`, `.preheader` or `div#x` whose elements are not shown. */
export type HidingRules = ReadonlySet<string>;

/** The simple rules of the style sheets in a document that hide elements, wherever it is read. */
export function findHidingRules(html: string): HidingRules {
  const hiding = new Set<string>();
  if (!/<style/i.test(html)) return hiding;
  const shown = new Set<string>();
  let isStyle = false;
  readTokens(html, {
    open: (name) => {
      isStyle = name === "style";
    },
    close() {},
    text(css) {
      if (isStyle) readRules(css, { hiding, shown });
    },
  });
  return hiding.difference(shown);
}

/** Rules for some screens only, in `@media`, do not count, unless they show what another one hides. */
function readRules(css: string, found: { readonly hiding: Set<string>; readonly shown: Set<string> }): void {
  const open: string[] = [];
  let text = "";
  for (const piece of css.split(/([{}])/)) {
    if (piece === "{")
      open.push(
        text
          .replaceAll(/<!--|-->/g, "")
          .trim()
          .toLowerCase(),
      );
    else if (piece === "}") {
      const selectors = (open.pop() ?? "").split(",").map((one) => one.trim());
      const style = flattenStyle(text);
      const isHiding = open.length === 0 && hides(style);
      for (const one of selectors.filter((selector) => /^[\w-]*(?:[.#][\w-]+)?$/.test(selector)))
        if (isHiding) found.hiding.add(one);
        else if (/(?:^|;)\s*display\s*:\s*(?!none)/.test(style)) found.shown.add(one);
    }
    text = piece;
  }
}

/** Whether what is read stands in something that is not shown. */
export class HiddenParts {
  readonly #rules: HidingRules;
  readonly #open: { name: string; same: number; containers: number; isGone: boolean; faded: ReadonlySet<string> }[] =
    [];

  constructor(rules: HidingRules) {
    this.#rules = rules;
  }

  get isSeen(): boolean {
    const top = this.#open.at(-1);
    return top === undefined || !(top.isGone || top.faded.size > 0);
  }

  /** Takes a start tag; true when its element is shown. */
  open(name: string, attribs: ReadonlyMap<string, string>): boolean {
    const above = this.#open.at(-1);
    if (above?.containers === 0 && ENDED_BY[above.name]?.has(name)) this.#open.pop();
    const top = this.#open.at(-1);
    if (top !== undefined && CONTAINERS.has(name)) top.containers += 1;
    if (top?.name === name) top.same += 1;
    const style = flattenStyle(attribs.get("style") ?? "");
    const isGone = UNSEEN.has(name) || attribs.has("hidden") || hides(style) || this.#isRuled(name, attribs);
    const faded = new Set(top?.faded);
    for (const [what, says, fades] of UNTIL_SAID)
      if (fades.test(style)) faded.add(what);
      else if (says.test(style)) faded.delete(what);
    const isNew = isGone || faded.symmetricDifference(top?.faded ?? new Set()).size > 0;
    const isSeen = !(isGone || (top?.isGone ?? false) || faded.size > 0);
    if (isNew && !VOID.has(name)) {
      if (top?.name === name) top.same -= 1;
      this.#open.push({ name, same: 0, containers: 0, isGone: isGone || (top?.isGone ?? false), faded });
    }
    return isSeen;
  }

  close(name: string): void {
    const top = this.#open.at(-1);
    if (top === undefined) return;
    const isContainer = CONTAINERS.has(name) || (name === "tr" && /^t[dh]$/.test(top.name));
    if (top.name === name && top.same > 0) top.same -= 1;
    else if (top.name === name || (isContainer && top.containers === 0 && top.name in ENDED_BY)) this.#open.pop();
    else if (CONTAINERS.has(name) && top.containers > 0) top.containers -= 1;
  }

  #isRuled(name: string, attribs: ReadonlyMap<string, string>): boolean {
    if (this.#rules.size === 0) return false;
    const classes = (attribs.get("class") ?? "").slice(0, MAX_STYLE).toLowerCase().split(/\s+/);
    const ends = ["", ...classes.map((one) => `.${one}`), `#${(attribs.get("id") ?? "").toLowerCase()}`];
    return ends.some((end) => this.#rules.has(`${name}${end}`) || (end !== "" && this.#rules.has(end)));
  }
}
