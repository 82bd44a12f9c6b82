import { describe, expect, it } from "vitest";
import {
  canonicalJson,
  createFingerprint,
  type FingerprintSubject,
} from "../../../../src/plugin/calls/ask/fingerprint.ts";

const subject: FingerprintSubject = {
  tool: "drive_upload_file",
  arguments: { name: "a.txt", file: { s3key: "/m/a.txt" } },
  connection: "con_1",
  files: [
    {
      field: "file",
      name: "a.txt",
      mimetype: "text/plain",
      size: 3,
      md5: "900150983cd24fb0d6963f7d28e17f72",
      sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    },
  ],
  effect: "write",
  principal: "p1",
};

describe("canonicalJson", () => {
  // The example of RFC 8785, section 3.2.3: keys sort by UTF-16 code units.
  it("orders members as RFC 8785 does", () => {
    const value = { "\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\ud83d\ude00": 5, "\u0080": 6, "\u00f6": 7 };
    expect(canonicalJson(value)).toBe('{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}');
  });

  it("prints numbers as ECMAScript does and keeps list order", () => {
    expect(canonicalJson([1e21, -0, 1.5, 0.000001, 100])).toBe("[1e+21,0,1.5,0.000001,100]");
  });

  it.each([
    ["undefined", { a: undefined }, "$.a is undefined"],
    ["NaN", { a: [Number.NaN] }, "$.a[0] is NaN"],
    ["infinity", { a: Number.POSITIVE_INFINITY }, "$.a is Infinity"],
    ["a big integer", { a: 1n }, "$.a is bigint"],
    ["a date", { at: new Date(0) }, "$.at is not a plain object"],
    ["a function", { f: () => 1 }, "$.f is function"],
    ["half a character", { a: "\ud800" }, "$.a holds half"],
  ])("refuses %s and names the path", (_name, value, message) => {
    expect(() => canonicalJson(value)).toThrow(message);
  });

  it("refuses nesting without end instead of overflowing the stack", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 10_000; level += 1) deep = [deep];
    expect(() => canonicalJson(deep)).toThrow("deeper than 200");
  });
});

describe("createFingerprint", () => {
  it("does not depend on member or file order", () => {
    const other = { ...subject.files[0], field: "b" } as FingerprintSubject["files"][number];
    const one = createFingerprint({ ...subject, files: [...subject.files, other] });
    const two = createFingerprint({
      ...subject,
      arguments: { file: { s3key: "/m/a.txt" }, name: "a.txt" },
      files: [other, ...subject.files],
    });
    expect(two).toBe(one);
    expect(one).toMatch(/^[a-f0-9]{64}$/);
  });

  it.each<[string, Partial<FingerprintSubject>]>([
    ["tool", { tool: "drive_move_file" }],
    ["arguments", { arguments: { name: "b.txt" } }],
    ["an argument's type", { arguments: { name: 1 } }],
    ["connection", { connection: "con_2" }],
    ["no connection", { connection: undefined }],
    ["file digest", { files: [{ ...subject.files[0]!, md5: "00000000000000000000000000000000" }] }],
    ["file digest of equal MD5", { files: [{ ...subject.files[0]!, sha256: "0".repeat(64) }] }],
    ["file size", { files: [{ ...subject.files[0]!, size: 4 }] }],
    ["file type", { files: [{ ...subject.files[0]!, mimetype: "image/png" }] }],
    ["no file", { files: [] }],
    ["principal", { principal: "p2" }],
    ["effect", { effect: "delete" }],
    ["an effect that nobody states", { effect: "unknown" }],
    ["no effect", { effect: undefined }],
  ])("changes with %s", (_name, change) => {
    expect(createFingerprint({ ...subject, ...change })).not.toBe(createFingerprint(subject));
  });

  it("names a call as it always did: what an earlier version wrote down as sent is found", () => {
    const call = { ...subject, files: [], effect: undefined };
    expect(createFingerprint(call)).toBe("3369f9a77df79b7408326ac0c82dbfb716a4047341f17ef9d60c68eb4bbdce2f");
  });
});
