import { describe, expect, test } from "vitest";
import { findLookAlike, isOneEdit } from "../../../src/shared/seen/look-alikes.ts";

const known = {
  addresses: ["bea@marshlegal.example", "tom@reyes-print.example", "info@bank.example", "anna.berg@x.example"],
  hosts: ["readinglist.example", "x.example", "shop.known-store.example"],
};

describe("findLookAlike", () => {
  test.each([
    ["a Cyrillic letter", "bea@mаrshlegal.example", "bea@marshlegal.example"],
    ["one letter more", "bea@marshlegall.example", "bea@marshlegal.example"],
    ["two letters swapped", "bea@mashrlegal.example", "bea@marshlegal.example"],
    ["the same name at another domain", "bea@other-place.example", "bea@marshlegal.example"],
    ["the same domain under another end", "info@marshlegal.test", "marshlegal.example"],
    ["one letter less before a known host", "be@marshlegal.example", undefined],
    ["a longer name with one letter changed", "anna.barg@x.example", "anna.berg@x.example"],
    ["a known host as the first labels", "tom@reyes-print.example.frames.example", "tom@reyes-print.example"],
    ["a host with l for i", "readlnglist.example", "readinglist.example"],
    ["a host with rn for m", "rnarshlegal.example", "marshlegal.example"],
    ["a host under a known one's name", "known-store.example.login.example", undefined],
  ])("says of %s what it looks like", (_, place, expected) => {
    expect(findLookAlike(place, known)).toBe(expected);
  });

  test.each(["bea@marshlegal.example", "nobody@elsewhere.test", "info@elsewhere.test", "bank.example", "y.example"])(
    "says nothing of %s",
    (place) => {
      expect(findLookAlike(place, known)).toBeUndefined();
    },
  );
});

test.each([
  ["abcde", "abcde", true],
  ["abcde", "abxde", true],
  ["abcde", "abde", true],
  ["abcde", "abdce", true],
  ["abcde", "abxye", false],
  ["abcde", "abcdefg", false],
])("one edit between %s and %s: %s", (one, other, expected) => {
  expect(isOneEdit(one, other)).toBe(expected);
  expect(isOneEdit(other, one)).toBe(expected);
});
