/** True for an object that is not a list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** One piece of JSON5: white space, a comment, a text in either quotes, a sign, or a word. */
const TOKEN =
  /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*'|[{}[\]:,]|[^\s{}[\]:,"']+/y;

/**
 * Parses JSON with what people write by hand: comments, trailing commas, keys without quotes, texts in single quotes.
 * Undefined for anything else.
 */
export function parseLenientJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const strict = toStrictJson(text);
    try {
      return strict === undefined ? undefined : JSON.parse(strict);
    } catch {
      return undefined;
    }
  }
}

function toStrictJson(text: string): string | undefined {
  const tokens = readTokens(text.replace(/^\ufeff/, ""));
  if (tokens === undefined) return undefined;
  return tokens
    .map((token, index) => {
      const next = tokens[index + 1];
      if (token === "," && (next === "}" || next === "]")) return "";
      if (token.startsWith("'")) return requote(token);
      return next === ":" && !token.startsWith('"') ? JSON.stringify(token) : token;
    })
    .join("");
}

/** The pieces without white space and comments; undefined when something is none. */
function readTokens(text: string): string[] | undefined {
  const pattern = new RegExp(TOKEN);
  const tokens: string[] = [];
  while (pattern.lastIndex < text.length) {
    const token = pattern.exec(text)?.[0];
    if (token === undefined) return undefined;
    if (!/^(?:\s|\/\/|\/\*)/.test(token)) tokens.push(token);
  }
  return tokens;
}

function requote(token: string): string {
  const inner = token.slice(1, -1).replace(/\\'|"/g, (found) => (found === '"' ? '\\"' : "'"));
  return `"${inner}"`;
}
