import { toActionId } from "../action-id.ts";
import type { SourceContent, StoredAction } from "../source-content.ts";
import { convertProperties } from "./convert-property.ts";
import type { PieceCall } from "./piece-definition.ts";
import type { PieceAction, PieceDescription, PieceProperty } from "./piece-description.ts";

const LEVELS: Readonly<Record<string, StoredAction["level"]>> = {
  READ: "read",
  SEARCH: "read",
  WRITE: "write",
  DESTRUCTIVE: "delete",
};
/** Fields whose values or members the piece knows only when it is asked. */
const LOOKED_UP = new Set(["DROPDOWN", "MULTI_SELECT_DROPDOWN", "DYNAMIC"]);
const NAME_MAX = 64;
const TITLE_MAX = 200;

/** How an app made of a piece is called. */
interface PiecePlace {
  readonly slug: string;
  readonly name: string;
  /** The piece's own short name, e.g. `notion`, which its actions often begin with. */
  readonly piece: string;
}

/**
 * Makes actions of those that a piece offers to agents, and one more for each field whose values have to be looked up.
 *
 * @returns what the app offers, without its settings, and one sentence for each thing the owner should know.
 */
export function convertPiece(
  piece: PieceDescription,
  place: PiecePlace,
): { content: Omit<SourceContent, "settingsForm">; notes: string[] } {
  const notes = new Set<string>();
  const shown = piece.actions.filter(({ audience }) => audience !== "human");
  const left = piece.actions.length - shown.length;
  if (left > 0) notes.add(`${left} actions that are made for humans only are left out.`);
  const vague = shown.filter(({ classification }) => LEVELS[classification] === undefined);
  if (vague.length > 0) {
    notes.add(`${vague.length} actions do not say whether they only read; they count as writes and ask a human first.`);
  }
  const ids = chooseIds(shown, place);
  const actions = shown.flatMap((action) => {
    const id = ids.get(action.name) ?? action.name;
    return convertAction(action, { id, slug: place.slug, note: (text) => notes.add(text) });
  });
  return {
    notes: [...notes],
    content: {
      description: piece.description || `${place.name}: ${actions.length} actions of a community connector.`,
      category: piece.category.toLowerCase() || "piece",
      scopes: [],
      actions,
    },
  };
}

/** Names without the piece's own name before them, which the app's name says already. */
function chooseIds(actions: readonly PieceAction[], { slug, piece }: PiecePlace): Map<string, string> {
  const max = NAME_MAX - slug.length - 1;
  const names = new Set(actions.map(({ name }) => name));
  const taken = new Set<string>();
  return new Map(
    actions.map(({ name }) => {
      const short = [slug, piece].map((own) => cutPrefix(name, own)).find((one) => one !== undefined);
      const wanted = short !== undefined && !names.has(short) ? short : name;
      const plain = toActionId(wanted, max);
      const id = taken.has(plain) ? toActionId(`${name} ${taken.size}`, max) : plain;
      taken.add(id);
      return [name, id];
    }),
  );
}

function cutPrefix(name: string, own: string): string | undefined {
  const [prefix, rest] = [name.slice(0, own.length + 1), name.slice(own.length + 1)];
  return rest !== "" && [`${own}_`, `${own}-`].includes(prefix) ? rest : undefined;
}

function convertAction(action: PieceAction, o: { id: string; slug: string; note(text: string): void }): StoredAction[] {
  const { id, note } = o;
  const maxId = NAME_MAX - o.slug.length - 1;
  const lookups = new Map(
    action.properties
      .filter(({ type }) => LOOKED_UP.has(type))
      .map(({ name }) => [name, toActionId(`${id}_options_${name}`, maxId)]),
  );
  const describeLookup = ({ name, type }: PieceProperty) => {
    const lookup = lookups.get(name);
    if (lookup === undefined) return undefined;
    return `"${o.slug}_${lookup}" lists its ${type === "DYNAMIC" ? "fields" : "values"}.`;
  };
  const level = LEVELS[action.classification] ?? "write";
  const call: PieceCall = { do: "run", action: action.name };
  const own: StoredAction = {
    id,
    title: (action.displayName || action.name).slice(0, TITLE_MAX),
    description: action.aiDescription || action.description || action.displayName,
    level,
    requiresConfirmation: level !== "read",
    idempotent: level === "read" || action.idempotent,
    inputSchema: convertProperties(action.properties, { note, describeLookup }),
    scopes: [],
    call,
  };
  const added = action.properties.flatMap((property) => {
    const lookup = lookups.get(property.name);
    return lookup === undefined ? [] : [createLookup(own, property, { id: lookup, action, note })];
  });
  return [own, ...added];
}

/** The read action that tells what a field takes. */
function createLookup(
  { title }: StoredAction,
  property: PieceProperty,
  { id, action, note }: { id: string; action: PieceAction; note(text: string): void },
): StoredAction {
  const label = property.displayName || property.name;
  const needed = action.properties.filter(({ name }) => property.refreshers.includes(name));
  const search: PieceProperty = {
    name: "search",
    type: "SHORT_TEXT",
    displayName: "Search",
    description: "Only values that match this text.",
    required: false,
    refreshers: [],
    searches: false,
  };
  const fields = [...needed, ...(property.searches && needed.every(({ name }) => name !== "search") ? [search] : [])];
  const call: PieceCall = { do: "options", action: action.name, property: property.name };
  const what = property.type === "DYNAMIC" ? "Lists the fields that" : "Lists the values that";
  return {
    id,
    title: `${title}: ${label}`.slice(0, TITLE_MAX),
    description: `${what} "${property.name}" of "${title}" takes.`,
    level: "read",
    requiresConfirmation: false,
    idempotent: true,
    inputSchema: convertProperties(fields, { note, describeLookup: () => undefined }),
    scopes: [],
    call,
  };
}
