import { Tokenizer } from "htmlparser2";

/** A set of names that are written with spaces between them. */
export function toSet(names: string): ReadonlySet<string> {
  return new Set(names.split(" "));
}

/** What is said of each tag and text, in order. Names are in lower case; of an attribute that is there twice the first counts. */
export interface HtmlHandler {
  open(name: string, attribs: ReadonlyMap<string, string>): void;
  close(name: string): void;
  text(piece: string): void;
}

/** Reads HTML without a tree: a parser would close thousands of open elements again at every tag. */
export function readTokens(html: string, handler: HtmlHandler): void {
  let tag = "";
  let start: number | undefined;
  let name = "";
  let value = "";
  let attribs = new Map<string, string>();
  // Behind the last ">" no tag can end: that is text.
  const end = html.lastIndexOf(">") + 1;
  const source = html.slice(0, end) + html.slice(end).replaceAll("<", "&lt;");
  const read = (from: number, to: number) => source.slice(from, to);
  const endTag = () => {
    start = undefined;
    handler.open(tag, attribs);
  };
  const tokenizer = new Tokenizer(
    {},
    {
      onopentagname(from, to) {
        [start, tag, attribs] = [from - 1, read(from, to).toLowerCase(), new Map()];
      },
      onattribname: (from, to) => {
        [name, value] = [read(from, to).toLowerCase(), ""];
      },
      onattribdata: (from, to) => {
        value += read(from, to);
      },
      onattribentity: (code) => {
        value += String.fromCodePoint(code);
      },
      onattribend: () => {
        if (!attribs.has(name)) attribs.set(name, value);
      },
      onopentagend: endTag,
      onselfclosingtag: endTag,
      onclosetag: (from, to) => handler.close(read(from, to).toLowerCase()),
      ontext: (from, to) => handler.text(read(from, to)),
      ontextentity: (code) => handler.text(String.fromCodePoint(code)),
      oncdata: (from, to, offset) => handler.text(read(from, to - offset)),
      oncomment() {},
      ondeclaration() {},
      onprocessinginstruction() {},
      onend() {},
    },
  );
  tokenizer.write(source.slice(0, end));
  // A tag that does not end is text, too.
  if (start !== undefined) handler.text(html.slice(start));
  else {
    tokenizer.write(source.slice(end));
    tokenizer.end();
  }
}
