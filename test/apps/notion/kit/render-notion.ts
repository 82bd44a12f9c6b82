import type { Item, Json } from "./notion-store.ts";

/** An object of the API, in the shapes of version 2026-03-11. */
export function render(item: Item): Json {
  const times = { created_time: item.created, last_edited_time: item.edited, in_trash: item.isInTrash };
  const by = { object: "user", id: "d40e767c-d7af-4b18-a86d-55c61f1e39a4" };
  const base = { id: item.id, ...times, created_by: by, last_edited_by: by, parent: renderParent(item) };
  if (item.kind === "block") {
    const has_children = item.children.some((child) => !child.isInTrash);
    return { object: "block", ...base, has_children, ...item.data };
  }
  if (item.kind === "database") {
    const data_sources = item.children.map(({ id, data }) => ({ id, name: data.name }));
    return { object: "database", ...base, title: [], description: [], is_inline: false, data_sources };
  }
  const own = { icon: null, cover: null, properties: item.data.properties, url: `https://www.notion.so/${item.id}` };
  if (item.kind === "data_source") return { object: "data_source", ...base, ...own, title: [], description: [] };
  return { object: "page", ...base, ...own, is_locked: false, public_url: null };
}

/** What stands for a page or database among the blocks of the page it lies in. */
export function renderChild(item: Item): Json {
  if (item.kind === "block") return render(item);
  const type = item.kind === "page" ? "child_page" : "child_database";
  const { properties: _properties, url: _url, icon: _icon, cover: _cover, ...base } = render(item);
  const title = item.kind === "page" ? titleOf(item) : item.data.name;
  return { ...base, object: "block", has_children: item.children.length > 0, type, [type]: { title } };
}

/** The title of a page as plain text. */
export function titleOf(item: Item): string {
  const property: Json = Object.values(item.data.properties ?? {}).find((one: Json) => one.type === "title");
  return (property?.title ?? []).map((run: Json) => run.plain_text).join("");
}

function renderParent({ parent }: Item): Json {
  if (parent === undefined) return { type: "workspace", workspace: true };
  const type = `${parent.kind}_id`;
  const database = parent.kind === "data_source" ? { database_id: parent.parent?.id } : {};
  return { type, [type]: parent.id, ...database };
}
