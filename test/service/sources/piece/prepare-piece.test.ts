import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ActionContext } from "../../../../src/service/integrations/integration.ts";
import { callPiece } from "../../../../src/service/sources/piece/call-piece.ts";
import { readPieceDefinition } from "../../../../src/service/sources/piece/piece-definition.ts";
import { type PiecePlace, preparePiece } from "../../../../src/service/sources/piece/prepare-piece.ts";
import { testPiece } from "../../../../src/service/sources/piece/test-piece.ts";
import { findFreePort } from "../../free-port.ts";
import { startRegistry } from "./start-registry.ts";

const FIXTURE = fileURLToPath(new URL("../../../fixtures/pieces/parcel", import.meta.url));

let dataDir: string;
let registry: Awaited<ReturnType<typeof startRegistry>>;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "svc-pieces-"));
  registry = await startRegistry([FIXTURE]);
}, 180_000);

afterAll(async () => {
  await registry?.close();
  await rm(dataDir, { recursive: true, force: true });
});

const prepare = (change: Partial<PiecePlace> = {}) =>
  preparePiece({
    piece: "parcel",
    slug: "parcel",
    version: undefined,
    name: undefined,
    hosts: {},
    isPrivate: false,
    dataDir,
    env: registry.env,
    signal: AbortSignal.timeout(120_000),
    ...change,
  });

const refuse = async (change: Partial<PiecePlace>) => {
  const error = await prepare(change).then(
    () => new Error("taken"),
    (thrown: Error & { code?: string; field?: string }) => thrown,
  );
  return error;
};

test("a version that is there stays, and what the owner does not want is taken away", async () => {
  const first = await prepare({ version: "1.2.3" });
  const again = await prepare();
  expect(again.source).toEqual(first.source);
  await again.discard();
  expect(await readdir(join(dataDir, "pieces", "parcel"))).toEqual(["1.2.3"]);
  await first.discard();
  expect(await readdir(join(dataDir, "pieces"))).toEqual([]);
}, 180_000);

test("what cannot be installed is said, and leaves nothing behind", async () => {
  expect(await refuse({ piece: "nowhere" })).toMatchObject({
    code: "invalid_config",
    message: "npm knows no @activepieces/piece-nowhere@latest.",
  });
  expect((await refuse({ version: "9.9.9" })).message).toBe("npm knows no @activepieces/piece-parcel@9.9.9.");
  const port = await findFreePort();
  expect(await refuse({ env: { ...registry.env, npm_config_registry: `http://127.0.0.1:${port}/` } })).toMatchObject({
    code: "unreachable",
    message: "The npm registry cannot be reached.",
  });
  const empty = join(dataDir, "no-programs");
  await mkdir(empty);
  expect(await refuse({ env: { PATH: empty } })).toMatchObject({
    code: "invalid_config",
    message: "npm was not found, and pieces are installed with it.",
  });
  expect(await readdir(join(dataDir, "pieces"))).toEqual([]);
}, 180_000);

test("names, versions and hosts are checked before npm is asked", async () => {
  const env = { PATH: "" };
  const say = async (change: Partial<PiecePlace>) => (await refuse({ env, ...change })).message;
  expect(await say({ piece: "../parcel" })).toBe('"../parcel" cannot be the name of a piece.');
  expect(await say({ piece: "--global" })).toBe('"--global" cannot be the name of a piece.');
  expect(await say({ version: "file:../x" })).toBe('"file:../x" cannot be a version.');
  expect(await say({ hosts: { "api.parcel.test": "http://127.0.0.1:80" } })).toBe(
    "http://127.0.0.1 is not a public address with encryption.",
  );
  expect(await say({ hosts: { "api.parcel.test": "https://x.example.org/path" } })).toBe(
    "The address of api.parcel.test is to be an origin alone.",
  );
  expect(await say({ hosts: { "api/parcel": "https://x.example.org" }, isPrivate: true })).toBe(
    '"api/parcel=https://x.example.org" does not name a host and its address.',
  );
  expect(await say({ hosts: { "api.parcel.test": "https://me:secret@x.example.org" } })).not.toContain("secret");
});

test("a check that takes too long is ended", async () => {
  const { source } = await prepare();
  const definition = readPieceDefinition(source.definition);
  const parts = { source, definition, installed: join(dataDir, definition.folder) };
  const ended = AbortSignal.abort(new Error("Time is up."));
  await expect(testPiece(parts, { secret: "slow" }, ended)).rejects.toThrow("Time is up.");
  await expect(testPiece(parts, { secret: "slow" }, AbortSignal.timeout(50))).rejects.toMatchObject({
    name: "TimeoutError",
  });
}, 180_000);

test("a call that takes too long is ended: a write is left in doubt, and its process and folder are gone", async () => {
  const { source } = await prepare();
  const definition = readPieceDefinition(source.definition);
  const context: ActionContext = {
    connection: { id: "con", integration: "parcel", label: "Parcel", settings: { secret: "key" }, scopes: [] },
    file: () => {
      throw new Error("No call here has a file.");
    },
    signal: new AbortController().signal,
    now: () => 0,
  };
  const call = (id: string, more: { limitMs?: number; signal?: AbortSignal }) => {
    const action = source.content.actions.find((one) => one.id === id);
    if (action === undefined) throw new Error(id);
    const { limitMs = 60_000, signal = context.signal } = more;
    const added = { digest: "", proposal: undefined, revision: "1", addedAt: "" };
    const parts = { source: { ...source, ...added }, definition, action, args: {}, limitMs };
    return callPiece({ ...parts, installed: join(dataDir, definition.folder), context: { ...context, signal } });
  };
  await expect(call("hang", { limitMs: 1 })).rejects.toMatchObject({ status: 500, code: "outcome_unknown" });
  await expect(call("print_label", { limitMs: 1 })).rejects.toMatchObject({
    status: 503,
    code: "provider_unavailable",
  });
  const gone = new AbortController();
  const hanging = call("hang", { signal: gone.signal });
  gone.abort(new Error("The caller went away."));
  await expect(hanging).rejects.toThrow("The caller went away.");
  // Without a place for files an action works all the same.
  expect(await call("print_label", {})).toEqual({
    labels: [
      { name: "label.pdf", mimetype: "application/pdf", size: 12 },
      { name: "copy.txt", mimetype: "text/plain", size: 14 },
    ],
  });
  await rm(join(dataDir, "pieces"), { recursive: true });
  await expect(call("vague", {})).rejects.toMatchObject({ status: 422, code: "integration_misconfigured" });
}, 180_000);
