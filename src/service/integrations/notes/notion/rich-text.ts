/** Longest text of one run, in UTF-16 units: a limit of Notion's API. */
const MAX_RUN = 2000;
/** Most runs of one block. Notion takes 100, but 100 long ones of three bytes a character are more than a request may be. */
const MAX_RUNS = 50;
const MAX_URL = 2000;

/** How a run looks. */
interface Look {
  readonly bold?: boolean;
  readonly italic?: boolean;
  readonly strikethrough?: boolean;
  readonly code?: boolean;
}

/** One run of text as it is sent to Notion. */
export interface NewText {
  readonly type: "text";
  readonly text: { readonly content: string; readonly link?: { readonly url: string } };
  readonly annotations?: Look;
}

/**
 * Constructs within a line, the first that fits is taken. A mark must touch what it marks, and its partner must come within
 * 1,000 characters: whatever somebody writes, no more than that is looked at for each mark.
 */
const INLINE = new RegExp(
  [
    /\\(?<escaped>[!-/:-@[-`{-~])/,
    /(?<!`)(?<ticks>`+)(?!`)(?<code>[\s\S]{0,1000}?[^`])\k<ticks>(?!`)/,
    /!?\[(?<label>(?:\\.|[^[\]\\]|\[[^[\]]{0,100}\]){0,1000})\]\((?<target>[^\s()]{0,1000}(?:\([^\s()]{0,1000}\)[^\s()]{0,1000}){0,5})(?:[ \t]{1,5}"[^"]{0,1000}")?\)/,
    /<(?<auto>(?:https?:\/\/|mailto:)[^\s<>]{1,2000})>/,
    /(?<bare>https?:\/\/[^\s<>*`~|]{0,2000}[^\s<>*_`~|.,;:!?)\]}'"])/,
    /\*\*(?=\S)(?<bold>[\s\S]{0,1000}?\S)\*\*(?!\*)/,
    /(?<![\p{L}\p{N}_])__(?=\S)(?<bold2>[\s\S]{0,1000}?\S)__(?![\p{L}\p{N}_])/u,
    /~~(?=\S)(?<strike>[\s\S]{0,1000}?\S)~~/,
    /\*(?=[^\s*])(?<italic>(?:\*\*[^*]{1,1000}\*\*|[^*]){0,1000}?[^\s*])\*(?!\*)/,
    /(?<![\p{L}\p{N}_])_(?=[^\s_])(?<italic2>[\s\S]{0,1000}?[^\s_])_(?![\p{L}\p{N}_])/u,
  ]
    .map(({ source }) => source)
    .join("|"),
  "u",
);

/** Markdown of a line or paragraph as runs of text; what is no Markdown stays as it is. */
export function toRichText(markdown: string): NewText[] {
  return splitRuns(merge([...parse(markdown, {}, undefined)]));
}

/** Text without any look. */
export function toPlainRuns(text: string): NewText[] {
  return splitRuns(text === "" ? [] : [createRun(text, {}, undefined)]);
}

/** Runs in groups that fit into one block each; one empty group for no text. */
export function groupRuns(runs: readonly NewText[]): (readonly NewText[])[] {
  const groups: (readonly NewText[])[] = [];
  for (let start = 0; start < runs.length; start += MAX_RUNS) groups.push(runs.slice(start, start + MAX_RUNS));
  return groups.length === 0 ? [[]] : groups;
}

function* parse(markdown: string, look: Look, link: string | undefined): Generator<NewText> {
  let rest = markdown;
  for (let found = INLINE.exec(rest); found !== null; found = INLINE.exec(rest)) {
    if (found.index > 0) yield createRun(rest.slice(0, found.index), look, link);
    yield* parseConstruct(found, look, link);
    rest = rest.slice(found.index + found[0].length);
  }
  if (rest !== "") yield createRun(rest, look, link);
}

function* parseConstruct(found: RegExpExecArray, look: Look, link: string | undefined): Generator<NewText> {
  const { escaped, code, label, target, auto, bare, bold, bold2, strike, italic, italic2 } = found.groups ?? {};
  const strong = bold ?? bold2;
  const stressed = italic ?? italic2;
  const url = auto ?? bare;
  if (escaped !== undefined) yield createRun(escaped, look, link);
  else if (code !== undefined) yield createRun(trimCode(code), { ...look, code: true }, link);
  else if (url !== undefined) yield createRun(url.replace(/^mailto:/, ""), look, link ?? toLink(url));
  else if (strong !== undefined) yield* parse(strong, { ...look, bold: true }, link);
  else if (strike !== undefined) yield* parse(strike, { ...look, strikethrough: true }, link);
  else if (stressed !== undefined) yield* parse(stressed, { ...look, italic: true }, link);
  else if (label !== undefined && toLink(target) !== undefined)
    yield* parse(label || (target ?? ""), look, toLink(target));
  else yield createRun(found[0], look, link);
}

/** Notion takes whole addresses only; a link to somewhere else stays readable as it was written. */
function toLink(target: string | undefined): string | undefined {
  const isWhole = target !== undefined && target.length <= MAX_URL && /^(https?:\/\/|mailto:)/i.test(target);
  return isWhole && URL.canParse(target) ? target : undefined;
}

function trimCode(code: string): string {
  return /^ .*[^ ].* $/s.test(code) ? code.slice(1, -1) : code;
}

function createRun(content: string, annotations: Look, url: string | undefined): NewText {
  return {
    type: "text",
    text: { content, ...(url === undefined ? {} : { link: { url } }) },
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  };
}

/** Neighbours that look alike become one run. */
function merge(runs: readonly NewText[]): NewText[] {
  const merged: NewText[] = [];
  for (const run of runs) {
    const last = merged.at(-1);
    const isAlike =
      last !== undefined &&
      last.text.link?.url === run.text.link?.url &&
      JSON.stringify(last.annotations) === JSON.stringify(run.annotations);
    if (!isAlike) merged.push(run);
    else merged[merged.length - 1] = { ...last, text: { ...last.text, content: last.text.content + run.text.content } };
  }
  return merged;
}

function splitRuns(runs: readonly NewText[]): NewText[] {
  return runs.flatMap((run) => {
    const parts: NewText[] = [];
    for (const content of cutText(run.text.content)) parts.push({ ...run, text: { ...run.text, content } });
    return parts;
  });
}

/** Pieces of at most 2,000 units; a character of two units is never torn. */
function* cutText(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + MAX_RUN, text.length);
    if (end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1] ?? "")) end -= 1;
    yield text.slice(start, end);
    start = end;
  }
}
