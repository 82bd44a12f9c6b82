import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { SplitError, splitBody } from "../../../src/service/files/split-body.ts";
import { createStagedFile, type StagedFile } from "../../../src/service/files/staged-file.ts";
import { parseExactly } from "../../../src/shared/base/exact-number.ts";
import { FUZZ_FACTOR, fuzzOptions } from "../../fuzz/fuzz-options.ts";
import { useTempFolder } from "./temp-folder.ts";

const folder = useTempFolder();
const opened: StagedFile[] = [];

afterEach(async () => {
  for (const file of opened.splice(0)) await file.discard();
});

async function* pieces(bytes: Buffer, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const points = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  let from = 0;
  for (const to of [...points, bytes.length]) {
    yield bytes.subarray(from, to);
    from = to;
  }
}

async function split(text: string | Buffer, cuts: readonly number[] = []) {
  const staged: StagedFile[] = [];
  const result = await splitBody(pieces(Buffer.from(text), cuts), {
    stage: async () => {
      const file = await createStagedFile(folder());
      staged.push(file);
      opened.push(file);
      return file;
    },
    maxFileBytes: 1 << 20,
    maxRestBytes: 1 << 20,
    count: () => undefined,
  });
  return { ...result, staged };
}

/** Puts diverted bytes back, so that the whole can be compared with `JSON.parse`. */
async function restore(result: Awaited<ReturnType<typeof split>>): Promise<unknown> {
  const { value } = result;
  if (typeof value !== "object" || value === null || !("files" in value) || !Array.isArray(value.files)) return value;
  for (const entry of value.files) {
    const file = result.findFile(entry?.dataBase64);
    if (file?.staged === undefined) continue;
    await file.staged.seal();
    entry.dataBase64 = (await readFile(file.staged.path)).toString("base64");
  }
  return value;
}

/** Half of them long enough to be diverted. */
const base64 = fc
  .tuple(fc.nat(255), fc.oneof(fc.nat(40), fc.integer({ min: 3070, max: 9000 })))
  .map(([seed, length]) =>
    Buffer.from(Array.from({ length }, (_, at) => (seed * at * 31 + at) & 255)).toString("base64"),
  );
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme" }),
  base64,
  fc.constantFrom("files", "dataBase64", '\\"', "\\\\"),
);
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: "small" },
    text,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    tie("list"),
    tie("object"),
  ),
  list: fc.array(tie("any"), { maxLength: 4 }),
  object: fc.dictionary(fc.oneof(text, fc.constantFrom("files", "dataBase64", "pointer")), tie("any"), {
    maxKeys: 4,
    noNullPrototype: true,
  }),
}));
const entry = fc.record(
  { pointer: text, dataBase64: fc.oneof(base64, value.any), extra: value.any },
  { requiredKeys: [] },
);
const document = fc.oneof(
  value.any,
  fc.record({ files: fc.array(entry, { maxLength: 3 }), arguments: value.object }, { requiredKeys: [] }),
);
const cuts = fc.array(fc.nat(), { maxLength: 12 });

/** Writes JSON with random white space and some characters escaped the long way. */
function write(data: unknown, seed: number, indent: number): string {
  const plain = JSON.stringify(data, null, indent);
  if (seed % 3 === 0) return plain;
  return plain.replaceAll(/"(?:[^"\\]|\\.)*"/g, (string) =>
    seed % 3 === 1 ? string.replaceAll("/", "\\/") : string.replaceAll("A", "\\u0041").replaceAll("+", "\\u002b"),
  );
}

describe("splitBody", () => {
  it(
    "equals JSON.parse for random documents cut at random places",
    async () => {
      let diverted = 0;
      await fc.assert(
        fc.asyncProperty(document, cuts, fc.nat(5), fc.nat(2), async (data, at, seed, indent) => {
          const body = write(data, seed, indent);
          const result = await split(body, at);
          diverted += result.staged.length;
          expect(await restore(result)).toEqual(parseExactly(body));
        }),
        fuzzOptions({ runs: 4_000 }),
      );
      expect(diverted).toBeGreaterThan(300);
    },
    60_000 * FUZZ_FACTOR,
  );

  it(
    "refuses exactly what JSON.parse refuses when a document is damaged",
    async () => {
      const damage = fc.record({
        at: fc.nat(),
        kind: fc.nat(2),
        byte: fc.constantFrom(...Array.from('"\\{}[],:0x\n ')),
      });
      await fc.assert(
        fc.asyncProperty(document, damage, cuts, async (data, { at, kind, byte }, places) => {
          const whole = JSON.stringify(data);
          const spot = at % (whole.length + 1);
          const body = (
            whole.slice(0, spot) +
            (kind === 0 ? "" : byte) +
            whole.slice(spot + (kind === 2 ? 0 : 1))
          ).toWellFormed();
          let wanted: unknown;
          let isValid = true;
          try {
            wanted = parseExactly(body);
          } catch {
            isValid = false;
          }
          const result = await split(body, places).catch((error: unknown) => error);
          if (!isValid) expect(result).toBeInstanceOf(SplitError);
          else if (result instanceof Error) throw result;
          else if (!hasBroken(result as Awaited<ReturnType<typeof split>>))
            expect(await restore(result as never)).toEqual(wanted);
        }),
        fuzzOptions({ runs: 4_000 }),
      );
    },
    60_000 * FUZZ_FACTOR,
  );

  it("finds the quote whatever the backslashes before it and wherever it is cut", async () => {
    const texts = ["\\", "\\\\", '\\"', '"', "\\".repeat(5), `${"\\".repeat(4)}"`, "\n\n\n"];
    for (const one of texts) {
      const body = JSON.stringify({ a: one, b: [one, "x"] });
      for (let cut = 0; cut <= body.length; cut++) expect((await split(body, [cut])).value).toEqual(parseExactly(body));
    }
  });

  it.each([
    "",
    "{",
    '{"a":1',
    '"abc',
    '{"a":"b}',
    '{"a":}',
    "[1,]",
    "{'a':1}",
    '{"a":1}}',
    "nul",
    '"\\x"',
    '"a\nb"',
    "\u00a0{}",
  ])("refuses %j", async (body) => {
    await expect(split(body)).rejects.toThrow(SplitError);
  });

  it("refuses broken escapes, control characters and missing ends inside a diverted string", async () => {
    const data = Buffer.alloc(6000).toString("base64");
    for (const bad of ["\\x", "\\u00zz", "\n", "\\"]) {
      const body = `{"files":[{"dataBase64":"${data}${bad}"}]}`;
      expect(() => JSON.parse(body)).toThrow();
      await expect(split(body)).rejects.toThrow(SplitError);
    }
    await expect(split(`{"files":[{"dataBase64":"${data}`)).rejects.toThrow(SplitError);
  });

  it("refuses text that is not UTF-8 and takes a byte order mark", async () => {
    await expect(split(Buffer.from([0x22, 0xff, 0x22]))).rejects.toThrow(SplitError);
    expect((await split(Buffer.from("\ufeff{}"))).value).toEqual({});
  });

  it("diverts only files[i].dataBase64, also under an escaped key", async () => {
    const data = Buffer.alloc(6000, 7).toString("base64");
    const elsewhere = { dataBase64: data, files: { dataBase64: data }, arguments: { files: [{ dataBase64: data }] } };
    expect((await split(JSON.stringify(elsewhere))).staged).toHaveLength(0);
    expect((await split(JSON.stringify([{ files: [{ dataBase64: data }] }]))).staged).toHaveLength(0);
    const escaped = await split(`{"f\\u0069les":[null,{"dataBase6\\u0034":"${data}"}]}`);
    expect(escaped.staged).toHaveLength(1);
    expect(await restore(escaped)).toEqual({ files: [null, { dataBase64: data }] });
  });

  it("lets the last of two equal keys win, as JSON.parse does", async () => {
    const data = Buffer.alloc(6000, 7).toString("base64");
    const body = `{"files":[{"dataBase64":"${data}","dataBase64":"short"}]}`;
    expect((await split(body)).value).toEqual(parseExactly(body));
  });

  it("a caller cannot name a diverted file by writing a placeholder", async () => {
    const data = Buffer.alloc(6000, 7).toString("base64");
    const result = await split(JSON.stringify({ files: [{ dataBase64: data }], x: `${"0".repeat(32)}:0` }));
    expect(result.findFile((result.value as { x: string }).x)).toBeUndefined();
  });

  it("refuses a rest above its cap without keeping it", async () => {
    await expect(split(JSON.stringify({ a: "x".repeat(1 << 20) }))).rejects.toMatchObject({ reason: "too_large" });
  });
});

function hasBroken(result: Awaited<ReturnType<typeof split>>): boolean {
  const files = (result.value as { files?: unknown[] } | null)?.files;
  if (!Array.isArray(files)) return false;
  return files.some(
    (one) => result.findFile((one as { dataBase64?: unknown } | null)?.dataBase64)?.problem !== undefined,
  );
}
