/**
 * What is sent for a value in each way that a document can ask for: the rows of the style table of OpenAPI ("Style Values"),
 * bodies by their media types ("Encoding Object", RFC 7578), and the collection formats of Swagger 2.0.
 */

type Json = Record<string, unknown>;

/** What arrives; "refused" is a note of `svc add` that names the parameter or the type. */
interface Right {
  /** What follows the path `/a` of the request, or `/p` for a parameter of the path. */
  readonly target?: string;
  /** Of `x-a`, or of the cookie. */
  readonly header?: string;
  readonly type?: string;
  readonly body?: string;
}

export interface WireRow {
  readonly name: string;
  /** Of OpenAPI 3; undefined where only Swagger 2.0 has it. */
  readonly operation: Json | undefined;
  /** The same in Swagger 2.0, where that has it. */
  readonly older?: Json;
  readonly args: Json;
  readonly right: Right | "refused";
  /** Versions of OpenAPI 3 that the row is about. Default: 3.0.4 and 3.1.1. */
  readonly versions?: readonly string[];
}

const LIST = ["blue", "black", "brown"];
const OBJECT = { R: 100, G: 200, B: 150 };

function schemaOf(value: unknown): Json {
  if (Array.isArray(value)) return { type: "array", items: { type: "string" } };
  if (typeof value === "object") return { type: "object" };
  return { type: Number.isInteger(value) ? "integer" : typeof value };
}

type Place = "query" | "path" | "header" | "cookie";
const NAMES: Readonly<Record<Place, string>> = { query: "color", path: "color", header: "X-A", cookie: "color" };

/** A row of one parameter; `format` is the collection format that means the same in Swagger 2.0. */
function parameter(place: Place, [how, value, sent, format]: ParameterRow): WireRow {
  const name = NAMES[place];
  const required = place === "path";
  const isHeader = place === "header" || place === "cookie";
  const isInOlder = place !== "cookie" && (format !== undefined || (Object.keys(how).length === 0 && isPlain(value)));
  const older = {
    name,
    in: place,
    required,
    ...schemaOf(value),
    ...(format !== undefined && { collectionFormat: format }),
  };
  return {
    name: `${place} ${JSON.stringify(how)} ${JSON.stringify(value)}`,
    operation: { parameters: [{ name, in: place, required, schema: schemaOf(value), ...how }] },
    ...(isInOlder && { older: { parameters: [older] } }),
    args: { [name]: value },
    right: sent === "refused" ? sent : isHeader ? { header: sent } : { target: sent },
  };
}

type ParameterRow = readonly [how: Json, value: unknown, sent: string, format?: string];
const isPlain = (value: unknown) => typeof value !== "object";

const JSON_CONTENT = (value: unknown) => ({
  schema: undefined,
  content: { "application/json": { schema: schemaOf(value) } },
});

const IN_QUERY: readonly ParameterRow[] = [
  [{}, "", "?color="],
  [{}, "blue", "?color=blue"],
  [{}, 100, "?color=100"],
  [{}, true, "?color=true"],
  [{}, false, "?color=false"],
  [{}, 0, "?color=0"],
  [{}, "a b", "?color=a%20b"],
  [{}, "a&b=c#d", "?color=a%26b%3Dc%23d"],
  [{}, "a+b", "?color=a%2Bb"],
  [{}, "50%", "?color=50%25"],
  [{}, "é", "?color=%C3%A9"],
  [{ style: "form", explode: false }, "blue", "?color=blue"],
  [{}, LIST, "?color=blue&color=black&color=brown", "multi"],
  [{ explode: false }, LIST, "?color=blue,black,brown", "csv"],
  [{ explode: false }, ["a,b", "c d"], "?color=a%2Cb,c%20d", "csv"],
  [{ explode: false }, ["blue"], "?color=blue", "csv"],
  [{ explode: false }, ["a", "", "b"], "?color=a,,b", "csv"],
  [{ explode: false }, [], "", "csv"],
  [{}, [], "", "multi"],
  [{}, OBJECT, "?R=100&G=200&B=150"],
  [{ explode: false }, OBJECT, "?color=R,100,G,200,B,150"],
  [{ style: "spaceDelimited", explode: false }, LIST, "?color=blue%20black%20brown", "ssv"],
  [{ style: "spaceDelimited" }, LIST, "?color=blue%20black%20brown", "ssv"],
  [{ style: "spaceDelimited", explode: false }, OBJECT, "?color=R%20100%20G%20200%20B%20150"],
  [{ style: "pipeDelimited", explode: false }, LIST, "?color=blue%7Cblack%7Cbrown", "pipes"],
  [{ style: "pipeDelimited" }, LIST, "?color=blue%7Cblack%7Cbrown", "pipes"],
  [{ style: "pipeDelimited", explode: false }, ["a|b", "c"], "?color=a%7Cb%7Cc", "pipes"],
  [{ style: "pipeDelimited", explode: false }, OBJECT, "?color=R%7C100%7CG%7C200%7CB%7C150"],
  [{ style: "deepObject", explode: true }, OBJECT, "?color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"],
  [{ style: "deepObject", explode: true }, { "a b": "c&d" }, "?color%5Ba%20b%5D=c%26d"],
  [{ allowReserved: true }, "/a:b,c?d", "?color=/a:b,c?d"],
  [{ allowReserved: true }, "a&b=c#d+e", "?color=a%26b=c%23d%2Be"],
  [{ allowReserved: true }, "a%2Fb 50%", "?color=a%2Fb%2050%25"],
  [{ allowReserved: true }, ["a/b", "c"], "?color=a/b&color=c"],
  [{ allowReserved: true, explode: false }, ["a/b", "c"], "?color=a/b,c"],
  [{ allowReserved: true }, { R: "a/b" }, "?R=a/b"],
  [{ schema: { type: "string", format: "binary" } }, "x", "?color=x"],
  [JSON_CONTENT({}), { a: [1] }, "?color=%7B%22a%22%3A%5B1%5D%7D"],
  [JSON_CONTENT([]), ["a"], "?color=%5B%22a%22%5D"],
  [JSON_CONTENT(""), "a", "?color=%22a%22"],
  [{ schema: undefined, content: { "text/plain": { schema: { type: "string" } } } }, "a b", "?color=a%20b"],
  [{ schema: undefined, content: { "application/xml": { schema: { type: "object" } } } }, OBJECT, "refused"],
  [
    { schema: undefined, content: { "application/x-www-form-urlencoded": { schema: { type: "object" } } } },
    OBJECT,
    "refused",
  ],
];

const IN_PATH: readonly ParameterRow[] = [
  [{}, "blue", "/blue"],
  [{}, 100, "/100"],
  [{}, true, "/true"],
  [{}, "a/b c", "/a%2Fb%20c"],
  [{}, "a;b=c,d", "/a%3Bb%3Dc%2Cd"],
  [{}, "é?#", "/%C3%A9%3F%23"],
  [{ explode: true }, "blue", "/blue"],
  [{}, LIST, "/blue,black,brown", "csv"],
  [{ explode: true }, LIST, "/blue,black,brown", "csv"],
  [{}, ["a,b", "c/d"], "/a%2Cb,c%2Fd", "csv"],
  [{}, OBJECT, "/R,100,G,200,B,150"],
  [{ explode: true }, OBJECT, "/R=100,G=200,B=150"],
  [{ explode: true }, { a: "b=c" }, "/a=b%3Dc"],
  [JSON_CONTENT({}), { a: 1 }, "/%7B%22a%22%3A1%7D"],
  [{ style: "label" }, "blue", "refused"],
  [{ style: "label", explode: true }, OBJECT, "refused"],
  [{ style: "matrix" }, "blue", "refused"],
  [{ style: "matrix", explode: true }, LIST, "refused"],
];

const IN_HEADER: readonly ParameterRow[] = [
  [{}, "blue", "blue"],
  [{}, 100, "100"],
  [{}, false, "false"],
  [{}, "a b, c%", "a b, c%"],
  [{}, LIST, "blue,black,brown", "csv"],
  [{ explode: true }, LIST, "blue,black,brown", "csv"],
  [{}, OBJECT, "R,100,G,200,B,150"],
  [{ explode: true }, OBJECT, "R=100,G=200,B=150"],
  [JSON_CONTENT({}), { a: [1] }, '{"a":[1]}'],
];

const IN_COOKIE: readonly ParameterRow[] = [
  [{}, "blue", "color=blue"],
  [{}, "a;b c", "color=a%3Bb%20c"],
  [{ explode: false }, "blue", "color=blue"],
  [{ explode: false }, LIST, "color=blue,black,brown"],
  [{}, LIST, "color=blue&color=black&color=brown"],
  [{ explode: false }, OBJECT, "color=R,100,G,200,B,150"],
  [{}, OBJECT, "R=100&G=200&B=150"],
  [JSON_CONTENT({}), { a: 1 }, "color=%7B%22a%22%3A1%7D"],
];

const FORM = "application/x-www-form-urlencoded";
const MULTIPART = "multipart/form-data";
const TEXT = { type: "string" };

/** A body of members; `older` are the parameters that Swagger 2.0 has for them. */
function members(type: string, [name, properties, args, body, more = {}]: BodyRow): WireRow {
  const { encoding, versions, older } = more;
  const content = { [type]: { schema: { type: "object", properties }, ...(encoding !== undefined && { encoding }) } };
  const parameters = Object.entries(older ?? {}).map(([key, how]) => ({ name: key, in: "formData", ...how }));
  return {
    name: `${type === FORM ? "form" : "multipart"} ${name}`,
    operation: { requestBody: { required: true, content } },
    ...(older !== undefined && { older: { consumes: [type], parameters } }),
    args,
    right: body === "refused" ? body : { body, type },
    ...(versions !== undefined && { versions }),
  };
}

type BodyRow = readonly [
  name: string,
  properties: Json,
  args: Json,
  body: string,
  more?: { encoding?: Json; versions?: string[]; older?: Record<string, Json> },
];

const list = { type: "array", items: TEXT };
const object = { type: "object" };
const file = { type: "string", format: "binary" };
const HELD = { name: "a.png", mimetype: "image/png", s3key: "held" };

const FORMS: readonly BodyRow[] = [
  ["texts", { b: TEXT, c: TEXT }, { b: "x y", c: "&=" }, "b=x%20y&c=%26%3D", { older: { b: TEXT, c: TEXT } }],
  ["an empty text", { b: TEXT }, { b: "" }, "b=", { older: { b: TEXT } }],
  ["a number and a flag", { n: { type: "integer" }, f: { type: "boolean" } }, { n: 0, f: false }, "n=0&f=false"],
  ["a list", { b: list }, { b: ["1", "2"] }, "b=1&b=2", { older: { b: { ...list, collectionFormat: "multi" } } }],
  ["a list of Swagger 2.0", {}, { b: ["1", "2"] }, "b=1,2", { versions: [], older: { b: list } }],
  ["an object", { b: object }, { b: { a: 1 } }, "b=%7B%22a%22%3A1%7D"],
  ["a list of objects", { b: { type: "array", items: object } }, { b: [{ a: 1 }] }, "b=%7B%22a%22%3A1%7D"],
  ["a list as one", { b: list }, { b: ["1", "2,3"] }, "b=1,2%2C3", { encoding: { b: { explode: false } } }],
  ["a list in the style form", { b: list }, { b: ["1", "2"] }, "b=1&b=2", { encoding: { b: { style: "form" } } }],
  ["spaces", { b: list }, { b: ["1", "2"] }, "b=1%202", { encoding: { b: { style: "spaceDelimited" } } }],
  ["pipes", { b: list }, { b: ["1", "2"] }, "b=1%7C2", { encoding: { b: { style: "pipeDelimited", explode: false } } }],
  [
    "an object member by member",
    { b: object },
    { b: OBJECT },
    "R=100&G=200&B=150",
    { encoding: { b: { style: "form" } } },
  ],
  ["an object as one", { b: object }, { b: OBJECT }, "b=R,100,G,200,B,150", { encoding: { b: { explode: false } } }],
  ["deep", { b: object }, { b: { a: 1 } }, "b%5Ba%5D=1", { encoding: { b: { style: "deepObject", explode: true } } }],
  ["reserved signs", { b: TEXT }, { b: "/a:b&c" }, "b=/a:b%26c", { encoding: { b: { allowReserved: true } } }],
  ["JSON", { b: list }, { b: ["1"] }, "b=%5B%221%22%5D", { encoding: { b: { contentType: "application/json" } } }],
  [
    "a style before a type",
    { b: list },
    { b: ["1", "2"] },
    "b=1,2",
    { encoding: { b: { contentType: "application/json", explode: false } } },
  ],
  ["label", { b: TEXT }, { b: "x" }, "refused", { encoding: { b: { style: "label" } } }],
  ["a file", { b: file }, { b: HELD }, "refused", { older: { b: { type: "file" } } }],
  ["a file in a list", { b: { type: "array", items: file } }, { b: [HELD] }, "refused"],
  ["a file in an object", { b: { type: "object", properties: { f: file } } }, { b: { f: HELD } }, "refused"],
];

const part = (name: string, text: string, type?: string) =>
  `--B\r\ncontent-disposition: form-data; name="${name}"${type === undefined ? "" : `\r\ncontent-type: ${type}`}\r\n\r\n${text}\r\n`;
const PNG = part('file"; filename="a.png', "\u0000\u00ff\n", "image/png");
const END = "--B--\r\n";

const MULTIPARTS: readonly BodyRow[] = [
  [
    "texts",
    { a: TEXT, b: TEXT },
    { a: "x y", b: "" },
    part("a", "x y") + part("b", "") + END,
    { older: { a: TEXT, b: TEXT } },
  ],
  [
    "a list",
    { a: list },
    { a: ["1", "2"] },
    part("a", "1") + part("a", "2") + END,
    { older: { a: { ...list, collectionFormat: "multi" } } },
  ],
  ["a list of Swagger 2.0", {}, { a: ["1", "2"] }, part("a", "1,2") + END, { versions: [], older: { a: list } }],
  ["an object", { a: object }, { a: { b: 1 } }, part("a", '{"b":1}', "application/json") + END],
  [
    "a list of objects",
    { a: { type: "array", items: object } },
    { a: [{}, {}] },
    part("a", "{}", "application/json").repeat(2) + END,
  ],
  [
    "a type",
    { a: TEXT },
    { a: "x" },
    part("a", "x", "text/markdown") + END,
    { encoding: { a: { contentType: "text/markdown" } } },
  ],
  ["a file", { file }, { file: HELD }, PNG + END, { older: { file: { type: "file" } } }],
  ["files", { file: { type: "array", items: file } }, { file: [HELD, HELD] }, PNG + PNG + END],
  ["a file beside a text", { a: TEXT, file }, { a: "x", file: HELD }, part("a", "x") + PNG + END],
  [
    "a file in an object",
    { a: { type: "object", properties: { file } } },
    { a: { file: HELD } },
    part("a", '{"file":"AP8K"}', "application/json") + END,
  ],
  [
    "a style that 3.0 does not have here",
    { a: list },
    { a: ["1", "2"] },
    part("a", "1") + part("a", "2") + END,
    { encoding: { a: { explode: false } }, versions: ["3.0.4"] },
  ],
  [
    "a style",
    { a: list },
    { a: ["1", "2"] },
    part("a", "1,2") + END,
    { encoding: { a: { explode: false } }, versions: ["3.1.1"] },
  ],
  [
    "a style before a type",
    { a: list },
    { a: ["1", "2"] },
    part("a", "1,2") + END,
    { encoding: { a: { explode: false, contentType: "application/json" } }, versions: ["3.1.1"] },
  ],
  [
    "a header that each part needs",
    { a: TEXT },
    { a: "x" },
    "refused",
    { encoding: { a: { headers: { "X-Part": { required: true, schema: TEXT } } } } },
  ],
];

/** A body as a whole: its media type, its schema, the argument, the bytes, and the type that is sent (default: that type). */
type WholeRow = readonly [type: string, schema: Json | undefined, value: unknown, body: string, sentType?: string];

const WHOLE: readonly WholeRow[] = [
  ["application/json", list, ["1"], '["1"]'],
  ["application/json", TEXT, "x", '"x"'],
  ["application/json", { type: "integer" }, 7, "7"],
  ["application/json; charset=utf-8", list, ["1"], '["1"]'],
  ["application/vnd.api+json; version=2", list, [], "[]"],
  ["application/merge-patch+json", { ...object, additionalProperties: true }, { a: 1 }, '{"a":1}'],
  ["text/json", list, [], "[]"],
  ["*/*", list, ["1"], '["1"]', "application/json"],
  ["text/plain", TEXT, "x", "x"],
  ["text/plain", TEXT, "\u00e9", "\u00c3\u00a9", "text/plain; charset=utf-8"],
  ["text/plain;charset=UTF-8", TEXT, "\u00e9", "\u00c3\u00a9"],
  ["text/csv; header=present", TEXT, "a,b\n", "a,b\n"],
  ["text/plain; charset=utf-16", TEXT, "x", "refused"],
  ["application/xml", object, {}, "refused"],
  ["multipart/mixed", object, {}, "refused"],
  [FORM, TEXT, "a=1", "refused"],
  [FORM, list, ["1"], "refused"],
  [MULTIPART, list, ["1"], "refused"],
  [MULTIPART, file, HELD, "refused"],
  ["image/png", file, HELD, "\u0000\u00ff\n", "image/png"],
  ["application/pdf", file, { ...HELD, mimetype: "application/octet-stream" }, "\u0000\u00ff\n", "application/pdf"],
  ["application/octet-stream", file, HELD, "\u0000\u00ff\n"],
  ["image/*", file, HELD, "\u0000\u00ff\n", "image/png"],
];

function whole([type, schema, value, body, sentType = type]: WholeRow): WireRow {
  const isJson = sentType === "application/json" && type !== "*/*";
  const older = { consumes: [type], parameters: [{ name: "b", in: "body", required: true, schema }] };
  return {
    name: `${type} ${JSON.stringify(value)}`,
    operation: { requestBody: { required: true, content: { [type]: { schema } } } },
    ...(isJson && { older }),
    args: { body: value },
    right: body === "refused" ? body : { body, type: sentType },
  };
}

/** A collection format where OpenAPI 3 has no style for it. */
function collection(place: "path" | "header", format: string, right: Right | "refused"): WireRow {
  const given = { name: NAMES[place], in: place, required: true, ...list, collectionFormat: format };
  const args = { [NAMES[place]]: ["1", "2"] };
  return { name: `${place} ${format}`, operation: undefined, older: { parameters: [given] }, args, right };
}

export const ROWS: readonly WireRow[] = [
  ...IN_QUERY.map((row) => parameter("query", row)),
  ...IN_PATH.map((row) => parameter("path", row)),
  ...IN_HEADER.map((row) => parameter("header", row)),
  ...IN_COOKIE.map((row) => parameter("cookie", row)),
  ...FORMS.map((row) => members(FORM, row)),
  ...MULTIPARTS.map((row) => members(MULTIPART, row)),
  ...WHOLE.map(whole),
  collection("path", "ssv", { target: "/1%202" }),
  collection("path", "tsv", { target: "/1%092" }),
  collection("path", "pipes", { target: "/1%7C2" }),
  collection("header", "ssv", { header: "1 2" }),
  collection("header", "pipes", { header: "1|2" }),
  {
    ...collection("path", "csv", "refused"),
    name: "path, lists in lists",
    older: { parameters: [{ name: "color", in: "path", required: true, type: "array", items: list }] },
  },
  {
    ...parameter("query", [{}, LIST, "?color=blue%09black%09brown"]),
    name: "query tsv",
    operation: undefined,
    older: { parameters: [{ name: "color", in: "query", ...list, collectionFormat: "tsv" }] },
  },
  {
    ...parameter("path", [{ allowReserved: true }, "a/b:c", "/a/b:c"]),
    name: "path, reserved signs",
    versions: ["3.0.4", "3.1.1", "3.2.0"],
  },
  {
    ...parameter("cookie", [{ style: "cookie" }, OBJECT, "R=100; G=200; B=150"]),
    name: "cookie in its own style",
    versions: ["3.2.0"],
  },
  {
    name: "querystring",
    operation: { parameters: [{ name: "q", in: "querystring", content: { "application/json": {} } }] },
    args: {},
    right: "refused",
    versions: ["3.2.0"],
  },
];
