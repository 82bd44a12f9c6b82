import { createRequire } from "node:module";
import { describe, expect, test } from "vitest";
import { toDocument } from "../../apps/openapi/wire-table/documents.ts";
import { ROWS, type WireRow } from "../../apps/openapi/wire-table/rows.ts";
import { SERVERS } from "./find-servers.ts";

/** What swagger-client sends for the parameters of the wire table, beside what the table calls right. */

const ECHO = "http://echo.example.org/v1";

interface Client {
  resolve(o: { readonly spec: object }): Promise<{ readonly spec: object }>;
  buildRequest(o: object): { readonly url: string; readonly headers: Readonly<Record<string, string>> };
}
const client = createRequire(SERVERS)("swagger-client") as Client;

/** Where it differs by the names of the rows, and why the table stays as it is. */
const DIFFERENT: readonly [rows: RegExp, why: string][] = [
  [/^query \{\} ""$/, "an empty text is a value (RFC 6570, 2.3)"],
  [/^query \{"explode":false\} \[\]$/, "an empty list is none"],
  [/Delimited.*\{"R"/, "the style table has these styles for objects, too"],
  [/pipeDelimited/, "a bar is no character of a query (RFC 3986, 3.4)"],
  [/allowReserved.*a&b/, "these signs would begin another parameter, a fragment, or be read as a space"],
  [/allowReserved.*%2F/, "escapes pass as they are (RFC 6570, 3.2.3)"],
  [
    /^path, reserved signs$/,
    "up to 3.1 this word is for queries, and whoever writes it for a path means it all the same",
  ],
  [/^query .*application\/json.* "a"$/, "a text is JSON in quotes"],
];

const isOfParameters = ({ operation, right, versions = ["3.0.4"] }: WireRow) =>
  right !== "refused" && operation?.requestBody === undefined && operation !== undefined && versions.includes("3.0.4");
// Its cookies escape the commas and leave out the ampersands of the table.
const rows = ROWS.filter((row) => isOfParameters(row) && !row.name.startsWith("cookie"));

describe("swagger-client", () => {
  test.each(rows.map((row) => [row.name, row] as const))("%s", async (name, { right, ...row }) => {
    if (right === "refused") return;
    const { spec } = await client.resolve({ spec: toDocument({ ...row, right }, "3.0.4", ECHO) });
    const { url, headers } = client.buildRequest({ spec, operationId: "x_op", parameters: row.args });
    const sent = { target: url.slice(`${ECHO}/a`.length), header: headers["X-A"] };
    const isSame = sent.target === (right.target ?? "") && sent.header === right.header;
    expect(isSame, `${sent.target} ${sent.header}`).toBe(!DIFFERENT.some(([names]) => names.test(name)));
  });
});
