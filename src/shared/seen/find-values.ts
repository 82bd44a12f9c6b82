import { findDates } from "./find-dates.ts";
import { findAddresses, findLinks, findPieces } from "./find-links.ts";
import { findAccounts, findCodes, findGroups, findNumbers } from "./find-numbers.ts";
import type { FoundValue } from "./found-value.ts";

const FINDERS = [findLinks, findAddresses, findPieces, findDates, findAccounts, findGroups, findCodes, findNumbers];

/** Finds the values of a clean text in their order, none inside another: what is part of a value is none itself. */
export function findValues(text: string): FoundValue[] {
  const taken = new Uint8Array(text.length);
  const found: FoundValue[] = [];
  for (const find of FINDERS) {
    for (const value of find(text)) {
      if (taken[value.at] || taken[value.end - 1]) continue;
      taken.fill(1, value.at, value.end);
      found.push(value);
    }
  }
  return found.toSorted((a, b) => a.at - b.at);
}

/** Finds only addresses, hosts and links. */
export function findPlaces(text: string): FoundValue[] {
  return [...findLinks(text), ...findAddresses(text)];
}
