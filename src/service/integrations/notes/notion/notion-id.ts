/**
 * The id of a page, database or data source, as Notion writes ids, from an id or from the address of a page in the
 * browser; undefined when the text is neither.
 */
export function readNotionId(text: string): string | undefined {
  const typed = text.trim();
  const url = /^https?:/i.test(typed) ? URL.parse(typed) : null;
  if (url === null) return /^[0-9a-f]{8}(-?)(?:[0-9a-f]{4}\1){3}[0-9a-f]{12}$/i.test(typed) ? toId(typed) : undefined;
  // A page that is open beside a database stands in the parameter p.
  const last = url.searchParams.get("p") ?? url.pathname.split("/").findLast((part) => part !== "") ?? "";
  const hex = /[0-9a-f]{32}$/i.exec(last.replaceAll("-", ""))?.[0];
  return hex === undefined ? undefined : toId(hex);
}

function toId(text: string): string {
  const hex = text.replaceAll("-", "").toLowerCase();
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** The address of a page in the browser. */
export function toPageUrl(id: string): string {
  return `https://www.notion.so/${id.replaceAll("-", "")}`;
}
