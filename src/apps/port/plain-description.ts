const ENTITIES: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  "#39": "'",
  nbsp: " ",
  amp: "&",
};
/** Elements that stand on lines of their own. */
const BLOCK = /^<\/?(?:p|div|br|hr|li|ul|ol|h[1-6]|tr|td|th|table|section)\b/i;

/**
 * The description that an app gives of itself, without the marks of HTML and Markdown: one paragraph that ends like a
 * sentence. A mark that was cut at the end of a long description goes with it.
 */
export function toPlainDescription(text: string): string {
  const plain = text
    .replaceAll(/^\s{0,3}(?:#{1,6}|[-*+>])\s+/gm, "")
    .replaceAll(/<((?:https?|mailto):[^<>\s]*)>/gi, "$1")
    .replaceAll(/<\/?[a-z][^<>]*(?:>|$)/gi, (tag) => (BLOCK.test(tag) ? " " : ""))
    .replaceAll(/!?\[([^[\]]*)\](?:\([^()]*(?:\)|$)|\[[^[\]]*\])/g, "$1")
    .replaceAll(/\*\*|(?<!\w)__(?=\S)|(?<=\S)__(?!\w)|`/g, "")
    .replaceAll(/&(lt|gt|quot|apos|#39|nbsp|amp);/g, (_, name: string) => ENTITIES[name] ?? "")
    .replaceAll(/\s+/g, " ")
    .trim();
  return plain === "" || /[.!?…:)"”]$/.test(plain) ? plain : `${plain}.`;
}
