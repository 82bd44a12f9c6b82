import { sha256Hex } from "../../../shared/base/hash.ts";
import { cloneJson, isRecord, setOwn } from "../../../shared/base/json.ts";
import type { SchemaDraft } from "../../../shared/schema-check/json-schema.ts";

/** A step on the way to a renamed key. In a map that also has properties of its own, any value but theirs. */
type RenamedStep = string | { readonly anyBut: readonly string[] };

/** A property the model sees under another name, because providers refuse the service's. */
export interface RenamedKey {
  /** The way to the object that holds it, in shown names; `[]` is any item of a list, `{}` any value of a map. */
  readonly path: readonly RenamedStep[];
  readonly original: string;
  readonly shown: string;
}

const LEGAL_KEY = /^[A-Za-z0-9_.-]{1,64}$/;
const KEY_LIMIT = 64;
const HASH_LENGTH = 7;
const MAX_READ = 200;

/**
 * Gives every property of a projected schema a name that matches `[A-Za-z0-9_.-]{1,64}`, in place. One original name
 * has one shown name throughout the tool, and no shown name is one the tool already uses.
 *
 * @param reserved - legal names the model's provider is known to mishandle.
 */
export function renameKeys(schema: SchemaDraft, reserved: ReadonlySet<string>): RenamedKey[] {
  const renamer: Renamer = { reserved, taken: new Set(), shown: new Map(), maps: new Map(), renamed: new Map() };
  if (!collectKeys(schema, renamer)) return [];
  renameNode(schema, [], renamer);
  return [...renamer.renamed.values()];
}

interface Renamer {
  readonly reserved: ReadonlySet<string>;
  readonly taken: Set<string>;
  readonly shown: Map<string, string>;
  /** Numbers for the steps that are no text: their names may be long, and many keys lie behind them. */
  readonly maps: Map<RenamedStep, number>;
  readonly renamed: Map<string, RenamedKey>;
}

/** Whether a provider takes a property of this name. */
export function isLegalKey(key: string, reserved: ReadonlySet<string>): boolean {
  return LEGAL_KEY.test(key) && key !== "__proto__" && !reserved.has(key);
}

/** @returns true when some key has to be renamed. */
function collectKeys(node: unknown, renamer: Renamer): boolean {
  if (!isRecord(node)) return false;
  let found = false;
  if (isRecord(node.properties)) {
    for (const key of Object.keys(node.properties)) {
      if (isLegalKey(key, renamer.reserved)) renamer.taken.add(key);
      else found = true;
      if (collectKeys(node.properties[key], renamer)) found = true;
    }
  }
  for (const child of [node.items, node.additionalProperties, ...(Array.isArray(node.anyOf) ? node.anyOf : [])]) {
    if (collectKeys(child, renamer)) found = true;
  }
  return found;
}

function renameNode(node: unknown, path: readonly RenamedStep[], renamer: Renamer): void {
  if (!isRecord(node)) return;
  const own = new Set<string>();
  if (isRecord(node.properties)) {
    const shown = renameProperties(node.properties, path, renamer);
    for (const key of [...Object.keys(node.properties), ...Object.keys(shown)]) own.add(key);
    node.properties = shown;
  }
  if (Array.isArray(node.required)) {
    node.required = node.required.map((key) => (typeof key === "string" ? (renamer.shown.get(key) ?? key) : key));
  }
  renameNode(node.items, [...path, "[]"], renamer);
  const values: RenamedStep = own.size === 0 ? "{}" : { anyBut: [...own] };
  if (values !== "{}") renamer.maps.set(values, renamer.maps.size);
  renameNode(node.additionalProperties, [...path, values], renamer);
  if (Array.isArray(node.anyOf)) for (const branch of node.anyOf) renameNode(branch, path, renamer);
}

function renameProperties(
  properties: Readonly<Record<string, unknown>>,
  path: readonly RenamedStep[],
  renamer: Renamer,
): SchemaDraft {
  const copy: SchemaDraft = {};
  const way = path.map((step) => (typeof step === "string" ? step : renamer.maps.get(step)));
  for (const original of Object.keys(properties)) {
    const shown = isLegalKey(original, renamer.reserved) ? original : nameKey(original, renamer);
    if (shown !== original) renamer.renamed.set(JSON.stringify([...way, original]), { path, original, shown });
    setOwn(copy, shown, properties[original]);
    renameNode(properties[original], [...path, shown], renamer);
  }
  return copy;
}

function nameKey(original: string, renamer: Renamer): string {
  const known = renamer.shown.get(original);
  if (known !== undefined) return known;
  const words = original
    .slice(0, MAX_READ)
    .replace(/[^A-Za-z0-9_.-]+/g, "_")
    .replace(/^_+|_+$/g, "");
  let base = words === "" ? "field" : words;
  if (base.length > KEY_LIMIT || original.length > MAX_READ) {
    const hash = sha256Hex(original).slice(0, HASH_LENGTH);
    base = `${base.slice(0, KEY_LIMIT - HASH_LENGTH - 1)}_${hash}`;
  }
  let shown = base;
  for (let count = 2; renamer.taken.has(shown) || !isLegalKey(shown, renamer.reserved); count++) {
    const suffix = `_${count}`;
    shown = `${base.slice(0, KEY_LIMIT - suffix.length)}${suffix}`;
  }
  renamer.taken.add(shown);
  renamer.shown.set(original, shown);
  return shown;
}

/**
 * Gives arguments of the model the service's key names back. A key the model already wrote as the service does stays.
 * Returns the very object given when nothing is to be renamed; never changes it.
 */
export function restoreRenamedKeys(
  args: Record<string, unknown>,
  renamed: readonly RenamedKey[],
): Record<string, unknown> {
  if (renamed.length === 0) return args;
  const copy = cloneJson(args);
  const deepestFirst = renamed.toSorted((a, b) => b.path.length - a.path.length);
  let changed = false;
  for (const key of deepestFirst) {
    for (const holder of findHolders(copy, key.path)) if (restoreKey(holder, key)) changed = true;
  }
  return changed && isRecord(copy) ? copy : args;
}

function findHolders(value: unknown, path: readonly RenamedStep[]): Record<string, unknown>[] {
  const [step, ...rest] = path;
  if (step === undefined) return isRecord(value) ? [value] : [];
  if (step === "[]") return Array.isArray(value) ? value.flatMap((item) => findHolders(item, rest)) : [];
  if (!isRecord(value)) return [];
  if (step === "{}") return Object.values(value).flatMap((item) => findHolders(item, rest));
  if (typeof step === "object") {
    const own = new Set(step.anyBut);
    return Object.keys(value).flatMap((key) => (own.has(key) ? [] : findHolders(value[key], rest)));
  }
  return Object.hasOwn(value, step) ? findHolders(value[step], rest) : [];
}

function restoreKey(holder: Record<string, unknown>, { original, shown }: RenamedKey): boolean {
  if (!Object.hasOwn(holder, shown) || Object.hasOwn(holder, original)) return false;
  for (const key of Object.keys(holder)) {
    const value = holder[key];
    delete holder[key];
    setOwn(holder, key === shown ? original : key, value);
  }
  return true;
}
