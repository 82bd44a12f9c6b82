const NAMES =
  "amp & lt < gt > quot \" apos ' commat @ period . hyphen - dash - colon : sol / bsol \\ num # plus + lowbar _ equals = quest ? " +
  "percnt % comma , semi ; excl ! lpar ( rpar ) dollar $ euro € pound £ yen ¥ shy \u00ad zwj \u200d zwnj \u200c " +
  "auml ä ouml ö uuml ü Auml Ä Ouml Ö Uuml Ü szlig ß eacute é egrave è ecirc ê agrave à acirc â ccedil ç icirc î ocirc ô " +
  "ucirc û ugrave ù iuml ï euml ë Eacute É aring å Aring Å oslash ø aelig æ ntilde ñ";

let named: Map<string, string> | undefined;

/** The character of a named entity that can stand in an address, a link, a number or a name. */
function namedEntity(name: string): string | undefined {
  if (!named) {
    const parts = NAMES.split(" ");
    named = new Map(parts.flatMap((part, index) => (index % 2 === 0 ? [[part, parts[index + 1] ?? ""] as const] : [])));
    for (const space of ["nbsp", "ensp", "emsp", "thinsp"]) named.set(space, " ");
  }
  return named.get(name);
}

/** A text with the characters that its HTML entities stand for; unknown ones stay. */
export function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));?/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return namedEntity(String(name)) ?? whole;
    const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
