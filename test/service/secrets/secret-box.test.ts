import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createSecretBox } from "../../../src/service/secrets/secret-box.ts";
import { fuzzOptions } from "../../fuzz/fuzz-options.ts";

const box = createSecretBox(randomBytes(32));

test("what was sealed opens again, at its own place only", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string(), fc.string(), (value, place, other) => {
      const sealed = box.seal(value, place);
      expect(box.open(sealed, place)).toBe(value);
      if (other !== place) expect(box.open(sealed, other)).toBeUndefined();
    }),
    fuzzOptions({ runs: 100 }),
  );
});

test("equal values are sealed differently each time", () => {
  expect(box.seal("pass phrase", "p")).not.toBe(box.seal("pass phrase", "p"));
});

test("another key, a changed byte, a cut and other text open to nothing", () => {
  const sealed = box.seal("pass phrase", "p");
  expect(createSecretBox(randomBytes(32)).open(sealed, "p")).toBeUndefined();
  const bytes = Buffer.from(sealed.slice(3), "base64url");
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(box.open(`v1.${changed.toString("base64url")}`, "p")).toBeUndefined();
    expect(box.open(`v1.${bytes.subarray(0, at).toString("base64url")}`, "p")).toBeUndefined();
  }
  for (const text of ["", "v1.", "v2.AAAA", "pass phrase", sealed.slice(3)]) {
    expect(box.open(text, "p")).toBeUndefined();
  }
});
