/**
 * What is wrong with a Mermaid block, one line each, by the part of the language that these pages use: flow charts,
 * state diagrams and sequence diagrams. Small on purpose: what it does not know it refuses.
 */
export function checkMermaid(code: string): string[] {
  const [kind = "", ...lines] = code.trimEnd().split("\n");
  const rules = RULES[/^\S+/.exec(kind)?.[0] ?? ""];
  if (rules === undefined || !rules.head.test(kind)) return [`unknown diagram: ${kind}`];
  const wrong = lines.filter((line) => line.trim() !== "" && !rules.lines.some((rule) => rule.test(line.trim())));
  const opened = lines.filter((line) => /^\s*(subgraph|alt|opt|loop)\b/.test(line)).length;
  const closed = lines.filter((line) => line.trim() === "end").length;
  return [...wrong, ...(opened === closed ? [] : [`${opened} blocks are opened and ${closed} closed`])];
}

const QUOTED = '"[^"]+"';
/** Text without quotes: none of what opens or ends a shape or a link. */
const PLAIN = '[^"()\\[\\]{}|<>-](?:[^"()\\[\\]{}|<>-]|-(?!-))*';
const TEXT = `(?:${QUOTED}|${PLAIN})`;
const SHAPE = `(?:\\[\\(${TEXT}\\)\\]|\\[${TEXT}\\]|\\(\\(${TEXT}\\)\\)|\\(${TEXT}\\)|\\{${TEXT}\\})`;
// "end" closes a block, wherever it stands alone.
const ID = "(?!end\\b)[a-z][a-zA-Z]*";
const NODE = `${ID}${SHAPE}?`;
const LINK = `<?--(?: (?:${QUOTED}|${PLAIN}) --)?>`;
const MESSAGE = "[^;#]+";

interface Rules {
  readonly head: RegExp;
  readonly lines: readonly RegExp[];
}

const RULES: Readonly<Record<string, Rules>> = {
  flowchart: {
    head: /^flowchart (TD|LR)$/,
    lines: [new RegExp(`^${NODE}(?: ${LINK} ${NODE})*$`), new RegExp(`^subgraph ${ID}\\[${TEXT}\\]$`), /^end$/],
  },
  "stateDiagram-v2": {
    head: /^stateDiagram-v2$/,
    lines: [new RegExp(`^(?:\\[\\*\\]|${ID}) --> (?:\\[\\*\\]|${ID})(?:: [^:;]+)?$`)],
  },
  sequenceDiagram: {
    head: /^sequenceDiagram$/,
    lines: [
      /^participant [A-Z] as [a-z]+$/,
      new RegExp(`^[A-Z]--?>>[A-Z]: ${MESSAGE}$`),
      new RegExp(`^(?:alt|else|opt|loop) ${MESSAGE}$`),
      /^end$/,
    ],
  },
};
