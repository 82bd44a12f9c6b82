import type { PieceAction, PieceAuth, PieceDescription, PieceOAuth, PieceProperty } from "../piece-description.ts";

type Json = Record<string, unknown>;

/** A piece as it is in memory. */
export interface LoadedPiece {
  readonly piece: Json;
  readonly actions: ReadonlyMap<string, Json>;
}

/** Finds the piece among what a package exports. Throws an Error when there is none. */
export function findPiece(exported: unknown): LoadedPiece {
  const values = isObject(exported) ? [...Object.values(exported), exported.default, exported] : [];
  for (const piece of values) {
    if (!isObject(piece) || typeof piece.displayName !== "string") continue;
    const listed = typeof piece.actions === "function" ? piece.actions() : (piece._actions ?? piece.actions);
    if (!isObject(listed)) continue;
    const actions = Object.values(listed).filter(isObject);
    return { piece, actions: new Map(actions.map((action) => [textOf(action.name), action])) };
  }
  throw new Error("The package holds no piece.");
}

/** Everything that is not code. */
export function describePiece({ piece, actions }: LoadedPiece): PieceDescription {
  const [category] = Array.isArray(piece.categories) ? piece.categories : [];
  return {
    displayName: textOf(piece.displayName),
    description: textOf(piece.description),
    category: textOf(category),
    auth: listAuths(piece).map(describeAuth),
    actions: [...actions.values()].map(describeAction),
  };
}

/** The ways in which a piece signs in. */
export function listAuths(piece: Json): Json[] {
  return (Array.isArray(piece.auth) ? piece.auth : [piece.auth]).filter(isObject);
}

/** The fields of an action, or of a `DYNAMIC` field. */
export function describeProperties(properties: unknown): PieceProperty[] {
  if (!isObject(properties)) return [];
  return Object.entries(properties).flatMap(([name, property]) =>
    isObject(property) ? [describeProperty(name, property)] : [],
  );
}

function describeAction(action: Json): PieceAction {
  const ai = isObject(action.aiMetadata) ? action.aiMetadata : {};
  return {
    name: textOf(action.name),
    displayName: textOf(action.displayName),
    description: textOf(action.description),
    audience: textOf(action.audience),
    classification: textOf(action.classification),
    aiDescription: textOf(ai.description),
    idempotent: ai.idempotent === true,
    properties: describeProperties(action.props),
  };
}

function describeAuth(auth: Json): PieceAuth {
  // A user name and a password lie beside the type, other fields below `props`.
  const { username, password } = auth;
  return {
    type: textOf(auth.type),
    oauth: auth.type === "OAUTH2" ? describeOAuth(auth) : undefined,
    displayName: textOf(auth.displayName),
    description: textOf(auth.description),
    required: auth.required !== false,
    properties: describeProperties(auth.type === "BASIC_AUTH" ? { username, password } : auth.props),
  };
}

function describeOAuth(auth: Json): PieceOAuth {
  const extra = isObject(auth.extra) ? Object.entries(auth.extra) : [];
  return {
    authUrl: textOf(auth.authUrl),
    tokenUrl: textOf(auth.tokenUrl),
    scopes: Array.isArray(auth.scope) ? auth.scope.filter((one) => typeof one === "string") : [],
    clientIn: auth.authorizationMethod === "HEADER" ? "header" : "body",
    pkce: auth.pkce === true,
    prompt: textOf(auth.prompt),
    extra: Object.fromEntries(extra.filter((entry): entry is [string, string] => typeof entry[1] === "string")),
  };
}

function describeProperty(name: string, property: Json): PieceProperty {
  const { type, options, properties, refreshers, min, max } = property;
  const listed = isObject(options) && Array.isArray(options.options) ? options.options.filter(isObject) : undefined;
  return {
    name,
    type: textOf(type),
    displayName: textOf(property.displayName),
    description: textOf(property.description),
    required: property.required === true,
    defaultValue: property.defaultValue,
    options: listed?.map(({ label, value }) => ({ label: textOf(label), value })),
    min: typeof min === "number" ? min : undefined,
    max: typeof max === "number" ? max : undefined,
    properties: isObject(properties) ? describeProperties(properties) : undefined,
    refreshers: Array.isArray(refreshers) ? refreshers.filter((one) => typeof one === "string") : [],
    searches: property.refreshOnSearch === true,
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** True for an object that is no list. */
export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
