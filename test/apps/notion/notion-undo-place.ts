import { createNotesIntegration } from "../../../src/apps/notes/notes-integration.ts";
import type { Roll } from "../../fixtures/content-files.ts";
import type { UndoPlace } from "../notes/check-undo.ts";
import { type Holdings, pick, sorted } from "../untouched/check-write.ts";
import { NOTION_WRITES, startNotionAccount } from "../untouched/notion-writes.ts";
import type { Item, Json } from "./kit/notion-store.ts";

/** A value without what Notion fills in by itself: its look, its ids, and values that are empty. */
function plain(value: Json): Json {
  if (Array.isArray(value)) return value.map((one) => one.plain_text ?? one.text?.content ?? plain(one));
  return typeof value === "object" && value !== null ? (value.name ?? JSON.stringify(value)) : value;
}

const isEmpty = (value: Json) => value === null || value === undefined || (Array.isArray(value) && value.length === 0);

/** Properties by their names and values; paragraphs of the text in any order, as Notion moves those that stand for pages. */
function toMeaning(thing: string): string {
  const { text, data, ...rest } = JSON.parse(thing);
  const values = Object.entries<Json>(data.properties ?? {}).map(([name, own]) => [name, plain(own[own.type])]);
  const lines = text.split("\n").filter((line: string) => line.trim() !== "");
  return JSON.stringify([rest, values.filter(([, value]) => !isEmpty(value)).sort(), lines.sort()]);
}

/** A workspace of Notion: compared in meaning, as Notion keeps no addresses of blocks; what is in the trash is left out. */
export async function openNotionUndo(): Promise<UndoPlace> {
  const account = await startNotionAccount();
  const { store } = account;
  const change = (roll: Roll, item: Item) => {
    if (roll(2) === 0) item.text = `${item.text}\n\ntheirs`;
    else for (const own of Object.values<Json>(item.data.properties)) if (own.type === "title") own.title = [];
    store.touch(item);
  };
  return {
    integration: createNotesIntegration(),
    account,
    writes: NOTION_WRITES,
    compare: (things) =>
      sorted(things).flatMap(([id, thing]) => (JSON.parse(thing).isInTrash ? [] : [[id, toMeaning(thing)] as const])),
    async meddle(roll: Roll, { before, after }: { before: Holdings; after: Holdings }) {
      const isPage = (id: string) => store.items.get(id)?.kind === "page";
      const touched = [...after].filter(([id, thing]) => isPage(id) && before.get(id) !== thing).map(([id]) => id);
      // What is in something comes after it.
      const id = touched.at(-1) ?? pick(roll, [...after.keys()].filter(isPage) as [string, ...string[]]);
      const item = store.items.get(id) as Item;
      if (item.isInTrash && roll(2) === 0 && item.parent?.kind === "page") item.parent.isInTrash = true;
      else if (item.isInTrash) item.isInTrash = false;
      else if (touched.length > 0 && roll(3) === 0) item.isInTrash = true;
      else change(roll, item);
    },
  };
}
