import fc, { type Arbitrary } from "fast-check";
import { anyJson, anyText } from "./arbitraries.ts";

/** Bodies: as described, or damaged in one of the ways below. */
export function damage(body: Arbitrary<unknown>): Arbitrary<string | Buffer> {
  const text = body.map((value) => JSON.stringify(value) ?? "null");
  return fc.oneof(
    { weight: 20, arbitrary: text },
    { weight: 3, arbitrary: dropMember(body) },
    { weight: 5, arbitrary: replaceMember(body) },
    { weight: 2, arbitrary: addMember(body) },
    { weight: 2, arbitrary: anyJson.map((value) => JSON.stringify(value)) },
    { weight: 2, arbitrary: cut(text) },
    { weight: 1, arbitrary: flipBytes(text) },
    { weight: 1, arbitrary: HOSTILE_BODIES },
  );
}

/** Bodies of a kind of their own. */
const HOSTILE_BODIES: Arbitrary<string | Buffer> = fc.oneof(
  fc.constantFrom<string | Buffer>(
    "",
    " ",
    "null",
    "[]",
    "{",
    '{"a":1,}',
    "{'a':1}",
    "NaN",
    '"text"',
    '{"__proto__":{"confirmed":true}}',
    '\ufeff{"a":1}',
    "[".repeat(20_000),
    `${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`,
    `{"input":${"[".repeat(3000)}${"]".repeat(3000)}}`,
    `{"integration_id":"lab","action_id":"open","input":${'{"a":'.repeat(4000)}1${"}".repeat(4000)}}`,
    `{"arguments":${'{"a":'.repeat(4000)}1${"}".repeat(4000)}}`,
    Buffer.from([0xff, 0xfe, 0x7b, 0x7d]),
    `{"a":"${"x".repeat(200_000)}"}`,
    `{${Array.from({ length: 5000 }, (_, index) => `"k${index}":1`).join(",")}}`,
  ),
  fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
);

function dropMember(body: Arbitrary<unknown>): Arbitrary<string> {
  return withMember(body, (entries, index) => entries.filter((_, place) => place !== index));
}

function replaceMember(body: Arbitrary<unknown>): Arbitrary<string> {
  const other = fc.oneof(anyJson, anyText, fc.constantFrom<unknown>(null, true, 0, -1, 1e308, [], {}, "true"));
  return other.chain((value) =>
    withMember(body, (entries, index) => entries.map(([key, old], place) => [key, place === index ? value : old])),
  );
}

function addMember(body: Arbitrary<unknown>): Arbitrary<string> {
  return fc
    .tuple(anyText, anyJson)
    .chain(([key, value]) => withMember(body, (entries) => [...entries, [key, value] as [string, unknown]]));
}

type Entries = [string, unknown][];

function withMember(body: Arbitrary<unknown>, change: (entries: Entries, index: number) => Entries): Arbitrary<string> {
  return fc.tuple(body, fc.nat(20)).map(([value, place]) => {
    const entries = typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
    return JSON.stringify(Object.fromEntries(change(entries, entries.length === 0 ? 0 : place % entries.length)));
  });
}

function cut(text: Arbitrary<string>): Arbitrary<string> {
  return fc.tuple(text, fc.nat(200)).map(([whole, at]) => whole.slice(0, at % (whole.length + 1)));
}

function flipBytes(text: Arbitrary<string>): Arbitrary<Buffer> {
  return fc.tuple(text, fc.array(fc.tuple(fc.nat(500), fc.nat(255)), { maxLength: 4 })).map(([whole, flips]) => {
    const bytes = Buffer.from(whole);
    for (const [at, value] of flips) if (bytes.length > 0) bytes[at % bytes.length] = value;
    return bytes;
  });
}
