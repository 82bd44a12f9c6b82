import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createMd5, createScriptMd5, type Md5 } from "../../../src/shared/base/hash.ts";
import { verifies } from "../../contract/verifies.ts";
import { fuzzOptions } from "../../fuzz/fuzz-options.ts";

const EMPTY = "d41d8cd98f00b204e9800998ecf8427e";
const ABC = "900150983cd24fb0d6963f7d28e17f72";

const digest = (md5: Md5, pieces: readonly Uint8Array[]) => {
  for (const piece of pieces) md5.update(piece);
  return md5.digestHex();
};

describe.each([
  ["the default engine", createMd5],
  ["the script engine", createScriptMd5],
] as const)("%s", (_name, create) => {
  test("known digests", () => {
    expect(digest(create(), [])).toBe(EMPTY);
    expect(digest(create(), [Buffer.from("abc")])).toBe(ABC);
  });

  test("equals node:crypto however the bytes are cut", () => {
    verifies("attachment.sent-complete");
    const pieces = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 12 });
    fc.assert(
      fc.property(pieces, (cuts) => {
        expect(digest(create(), cuts)).toBe(createHash("md5").update(Buffer.concat(cuts)).digest("hex"));
      }),
      fuzzOptions({ runs: 500 }),
    );
  });

  test("takes a view into a larger buffer as just its own bytes", () => {
    const pool = Buffer.from("xxabcxx");
    expect(digest(create(), [pool.subarray(2, 5)])).toBe(ABC);
  });
});

test("works where MD5 is forbidden", () => {
  const script = `
    import { createHash, setFips } from "node:crypto";
    setFips(true);
    let refused = "no";
    try { createHash("md5"); } catch { refused = "yes"; }
    const { createMd5 } = await import(${JSON.stringify(new URL("../../../src/shared/base/hash.ts", import.meta.url).href)});
    const md5 = createMd5();
    md5.update(Buffer.from("abc"));
    console.log(refused, md5.digestHex());
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  expect(stdout.trim(), stderr).toBe(`yes ${ABC}`);
});
