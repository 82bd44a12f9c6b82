import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildRequest } from "../../../../src/apps/openapi/build-request.ts";
import { operationCallSchema, readOpenApiDefinition } from "../../../../src/apps/openapi/openapi-definition.ts";
import { sendRequest } from "../../../../src/apps/openapi/openapi-kind.ts";
import { prepareOpenApi } from "../../../../src/apps/openapi/prepare-openapi.ts";
import { createAppAgent } from "../../../../src/service/fetch/guarded-connector.ts";
import { isRecord } from "../../../../src/shared/base/json.ts";
import { startMockApi } from "../mock-api.ts";
import { toDocument } from "./documents.ts";
import { ROWS, type WireRow } from "./rows.ts";

/** Each row of the table, added, called and compared with what arrives, byte by byte, in each version that has it. */

let folder: string;
let echo: Awaited<ReturnType<typeof startMockApi>>;
const agent = createAppAgent({ isPrivate: true, silenceMs: 10_000 });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-wire-table-"));
  echo = await startMockApi();
});

afterAll(async () => {
  await agent.close();
  await echo.close();
  await rm(folder, { recursive: true, force: true });
});

async function add(row: WireRow, version: string) {
  const document = join(folder, "document.json");
  await writeFile(document, JSON.stringify(toDocument(row, version, echo.url)));
  return prepareOpenApi({
    slug: "x",
    document,
    name: undefined,
    baseUrl: undefined,
    isPrivate: true,
    takesToken: false,
  });
}

async function send(row: WireRow, version: string) {
  const { source } = await add(row, version);
  const [action] = source.content.actions;
  if (action === undefined) throw new Error("no action");
  const connection = { integration: "x", id: "c", label: "c", settings: {}, scopes: [], state: "healthy" as const };
  const bytes = Buffer.from([0, 255, 10]);
  const file = () => ({ ...findFile(row.args), size: 3, sha256: "", open: () => Readable.from([bytes]) });
  const call = operationCallSchema.parse(action.call);
  const { body } = call;
  const args = body === null || body.argument === null ? row.args : { [body.argument]: row.args.body ?? row.args };
  const request = buildRequest(readOpenApiDefinition(source.definition), call, args, { connection, file });
  const context = { signal: AbortSignal.timeout(20_000), now: Date.now, connection, file };
  await sendRequest(request, { dispatcher: agent.dispatcher, app: "Echo", action, context });
  const seen = echo.seen.splice(0).at(-1);
  if (seen === undefined) throw new Error("nothing arrived");
  return seen;
}

function findFile(value: unknown): { name: string; mimetype: string; s3key: string } {
  if (isRecord(value) && typeof value.s3key === "string") return value as ReturnType<typeof findFile>;
  const parts = typeof value === "object" && value !== null ? Object.values(value) : [];
  return parts.map(findFile).find((found) => found.s3key !== "") ?? { name: "", mimetype: "", s3key: "" };
}

describe.each(["2.0", "3.0.4", "3.1.1", "3.2.0"])("%s", (version) => {
  const has = ({ operation, older, versions = ["3.0.4", "3.1.1"] }: WireRow) =>
    version === "2.0" ? older !== undefined : operation !== undefined && versions.includes(version);

  test.each(ROWS.filter(has).map((row) => [row.name, row] as const))("%s", async (_, row) => {
    if (row.right === "refused") {
      await expect(add(row, version)).rejects.toThrow(/is to be|cannot|needs|takes only/);
      return;
    }
    const { target, header, body, type } = row.right;
    const seen = await send(row, version);
    if (target !== undefined) expect(seen.path.replace(/^\/v1\/[ap]/, "")).toBe(target);
    if (header !== undefined) expect(seen.headers["x-a"] ?? seen.headers.cookie).toBe(header);
    const [, boundary = ""] = /boundary=(.*)$/.exec(seen.headers["content-type"] ?? "") ?? [];
    const readBody = seen.body.toString("latin1");
    if (body !== undefined) expect(boundary === "" ? readBody : readBody.replaceAll(boundary, "B")).toBe(body);
    if (type !== undefined) expect(seen.headers["content-type"]?.replace(/; boundary=.*/, "")).toBe(type);
  });
});
