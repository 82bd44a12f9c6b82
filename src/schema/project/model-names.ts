import { sha256Hex } from "../../base/hash.ts";
import { SvcError } from "../../errors.ts";

const LIMIT = 64;
const HASH_LENGTH = 7;

/**
 * A name every model provider accepts: `[A-Za-z][A-Za-z0-9_-]*`, at most 64 characters.
 * Other characters become `_`; a name that does not start with a letter gets `t_` in front; a longer one is cut and
 * ends in 7 hex digits of its SHA-256, so that two long names stay apart. A legal name is returned unchanged.
 */
export function toModelName(name: string): string {
  const clean = name.replace(/[^A-Za-z0-9_-]/g, "_");
  const legal = /^[A-Za-z]/.test(clean) ? clean : `t_${clean}`;
  if (legal.length <= LIMIT) return legal;
  const hash = sha256Hex(name).slice(0, HASH_LENGTH);
  return `${legal.slice(0, LIMIT - HASH_LENGTH - 1)}_${hash}`;
}

export interface NameMap {
  /** The model's name of a service tool, or undefined when the tool is not in the map. */
  toModel(name: string): string | undefined;
  toService(modelName: string): string | undefined;
}

/**
 * Builds the map for one set of tools.
 *
 * @throws SvcError `unsupported` when two different tools would get the same model name: calling the wrong one is
 * worse than offering neither.
 */
export function createNameMap(names: Iterable<string>): NameMap {
  const toModel = new Map<string, string>();
  const toService = new Map<string, string>();
  for (const name of names) {
    const modelName = toModelName(name);
    const holder = toService.get(modelName);
    if (holder !== undefined && holder !== name) {
      throw new SvcError("unsupported", `Tools "${holder}" and "${name}" would both be shown as "${modelName}".`, {
        hint: "Offer only one of them, or rename one in the service.",
      });
    }
    toModel.set(name, modelName);
    toService.set(modelName, name);
  }
  return { toModel: (name) => toModel.get(name), toService: (modelName) => toService.get(modelName) };
}
