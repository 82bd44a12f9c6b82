/** Words for places that programs put things into that nobody looks for any more; found in longer names, too. */
const WORDS = [
  ...[
    "trash",
    "junk",
    "spam",
    "deleted",
    "recycle",
    "wastebasket",
    "lost+found",
    "papierkorb",
    "gelöscht",
    "unerwünscht",
  ],
  ...["corbeille", "supprimé", "indésirable", "pourriel", "papelera", "eliminado", "no deseado", "cestino", "eliminat"],
  ...["indesiderat", "lixeira", "excluíd", "indesejad", "prullenbak", "prullenmand", "verwijderd", "ongewenst"],
  ...["papperskorg", "borttag", "skräppost", "papirkurv", "slettet", "uønsket", "roskakori", "poistetut", "roskaposti"],
  ...["usunięt", "niechcian", "odstraněn", "nevyžádan", "odstránen", "lomtár", "törölt", "levélszemét", "coș de gunoi"],
  ...["корзина", "удаленн", "удалённ", "спам", "кошик", "видален", "кошче", "κάδος", "διαγραμμ", "çöp", "silinmiş"],
  ...[
    "ゴミ箱",
    "ごみ箱",
    "迷惑メール",
    "削除済み",
    "垃圾",
    "已删除",
    "已刪除",
    "휴지통",
    "스팸",
    "지운 편지",
    "thùng rác",
    "thư rác",
  ],
  ...["tempat sampah", "ถังขยะ", "ขยะ", "المهملات", "המחוקים", "האשפה", "מיחזור"],
];
/** Words that stand in other words, too: only as a whole name. */
const NAMES = [
  ...["bin", "garbage", "rubbish", "poubelle", "basura", "kosz", "koš", "kôš", "kuka", "lixo", "müll"],
  ...["roska", "smeće", "otpad"],
];

/** Longest pattern in a schema, in characters; see `readPattern`. */
const MAX_PATTERN = 450;

/**
 * True for a place that hides what is moved there: with a level that begins with a dot, or one that is called like a trash or a
 * folder for junk in one of many languages. Levels are separated by slashes.
 */
export function isPutAway(path: string): boolean {
  return path.split(/[/\\]/).some((level) => {
    const name = fold(level);
    return name.startsWith(".") || FOLDED.names.has(name) || FOLDED.words.some((word) => name.includes(word));
  });
}

/** Without case and marks, so that `Gelöscht`, `GELOSCHT` and a decomposed spelling are one. */
function fold(text: string): string {
  const bare = text.normalize("NFKD").replaceAll(/[\p{M}\p{Cf}]/gu, "");
  return bare.toLowerCase().replaceAll("ı", "i").trim();
}

const FOLDED = { words: WORDS.map(fold), names: new Set(NAMES.map(fold)) };

/** The same for a file: its own name may say anything, if it has an ending, and does not begin with a dot. */
export function isFilePutAway(path: string): boolean {
  const levels = path.split(/[/\\]/);
  const name = levels.pop() ?? "";
  return isPutAway(levels.join("/")) || (/^\s*\.|^[^.]*$/.test(name) && isPutAway(name));
}

const DOTS = ["^\\s*\\.", "^.*[/\\\\]\\s*\\."];

/**
 * JSON Schema for folders that {@link isPutAway}, in the usual spelling, so that devices know them without asking; a
 * caller who can look asks the function.
 */
export const putAwaySchema = toSchema([
  ...DOTS,
  ...listWords(NAMES).flatMap((names) => [`^(${names})$`, `^(${names})/`, `^.*/(${names})$`, `^.*/(${names})/`]),
  ...listWords(WORDS).map((words) => `^.*(${words})`),
]);
/** JSON Schema for files that {@link isFilePutAway}, in the same spelling. */
export const filePutAwaySchema = toSchema([
  ...DOTS,
  ...listWords([...WORDS, ...NAMES]).flatMap((names) => [`^(${names})/`, `^.*/(${names})/`]),
]);

function toSchema(patterns: readonly string[]) {
  return { anyOf: patterns.map((pattern) => ({ pattern })) };
}

/** Alternatives of patterns, each short enough. */
function listWords(words: readonly string[]): string[] {
  const chunks: string[] = [];
  for (const word of words.map(anyCase)) {
    const last = chunks.at(-1);
    if (last === undefined || last.length + word.length > MAX_PATTERN) chunks.push(word);
    else chunks[chunks.length - 1] = `${last}|${word}`;
  }
  return chunks;
}

function anyCase(word: string): string {
  const letters = [...word.normalize("NFC")].map((letter) => {
    const both = new Set([letter.toUpperCase(), letter.toLowerCase()]);
    return both.size === 1 ? letter.replace(/[+.]/, "\\$&") : `[${[...both].join("")}]`;
  });
  return letters.join("");
}
