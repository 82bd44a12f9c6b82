import { refuseMissing, refuseValue } from "../../service/service-error.ts";
import { foldText } from "../../shared/base/text.ts";
import type { Collection } from "./collection-store.ts";

/** The collection of this id or name. Throws ServiceError 404; `what` is "calendar" or "address book". */
export function findCollection(all: readonly Collection[], name: string, what: string): Collection {
  const same = all.filter((one) => foldText(one.name) === foldText(name));
  const found = all.find(({ id }) => id === name) ?? (same.length === 1 ? same[0] : undefined);
  if (found !== undefined) return found;
  throw refuseMissing(`There is no ${what} "${name}".`, `There are: ${listNames(all)}.`);
}

/**
 * The collection for something new: which of several is for the caller to say, so that whoever approves sees it. Throws
 * ServiceError 400 or 404.
 */
export function chooseCollection(
  all: readonly Collection[],
  name: string | undefined,
  { what, field }: { readonly what: string; readonly field: string },
): Collection {
  if (name !== undefined) return findCollection(all, name, what);
  const [only] = all;
  if (only === undefined) throw refuseMissing(`There is no ${what}.`, "The owner makes one with another program.");
  if (all.length === 1) return only;
  throw refuseValue(field, `is needed, as there are several ${what}s.`, `Choose one of: ${listNames(all)}.`);
}

function listNames(all: readonly Collection[]): string {
  return all
    .slice(0, 20)
    .map((one) => one.name)
    .join(", ");
}
