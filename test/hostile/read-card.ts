/** Labels a card writes itself; nothing else may stand where they do. */
export const OWN_LABELS = [
  ...["Action", "Tool", "App", "Account", "Effect", "Arguments", "Files", "Why asked", "Check", "It does", "Expires"],
  "Approve?",
];

/** What stands on a row of a card. */
const ROW = /^(.{9}) │ (.*)$/;
const HANGING = "  ";

/** The values of a card by their labels, each put together from its rows. */
export function readFacts(rows: readonly string[]): Map<string, string[]> {
  const facts = new Map<string, string[]>();
  let values: string[] = [];
  for (const row of rows) {
    const [, label = "", text = ""] = ROW.exec(row) ?? [];
    if (label === "") continue;
    if (label.trim() !== "") {
      values = [];
      facts.set(label.trim(), values);
    }
    if (text.startsWith(HANGING)) values.push((values.pop() ?? "") + text.slice(HANGING.length));
    else values.push(text);
  }
  return facts;
}

const MEMBER = /^(\w[\w.[\]-]*|"(?:[^"\\]|\\.)*"): (.*)$/;

/** Arguments from lines of `name: value`: JSON where it can be read as such, text as it stands otherwise. */
export function readArguments(lines: readonly string[]): Record<string, unknown> {
  const members = lines.filter((line) => line !== "none").map(readMember);
  return JSON.parse(`{${members.join(",")}}`);
}

/** One `name: value` as a member of a JSON object. */
function readMember(line: string): string {
  const [, name = "", value = ""] = MEMBER.exec(line) ?? failToRead(line);
  return `${name.startsWith('"') ? name : JSON.stringify(name)}:${isJson(value) ? value : JSON.stringify(value)}`;
}

function failToRead(line: string): never {
  throw new Error(`not a member: ${line}`);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
