import { readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { runSvc } from "../../../e2e/run-svc.ts";
import { openPieces } from "./open-piece.ts";

const FIXTURE = fileURLToPath(new URL("../../../fixtures/pieces/parcel", import.meta.url));

let opened: Awaited<ReturnType<typeof openPieces>>;

beforeAll(async () => {
  opened = await openPieces([FIXTURE], []);
}, 180_000);

afterAll(() => opened?.close());

const svc = (args: readonly string[], env: Record<string, string> = {}, input = "") => {
  const dataDir = opened.service.dataDir;
  const npm = Object.entries(opened.registry.env).filter(([name]) => name.startsWith("npm_config_"));
  return runSvc(["add", "piece", ...args, "--data", dataDir], join(dataDir, "home"), {
    env: { ...(Object.fromEntries(npm) as Record<string, string>), ...env },
    input,
  });
};
const listPieces = () => readdir(join(opened.service.dataDir, "pieces")).catch(() => []);

test("a piece is shown before it is added, and taken away again when its owner does not want it", async () => {
  const { code, stdout } = await svc(["parcel@1.2.3"], {}, "n\n");
  expect(code).not.toBe(0);
  expect(stdout).toContain("parcel_track");
  expect(stdout).toContain("@activepieces/piece-parcel 1.2.3, sha512-");
  expect(await opened.desk.list()).toEqual([]);
  expect(await listPieces()).toEqual([]);
}, 180_000);

test("a piece is added with its secret from the environment, and its calls go where the owner says", async () => {
  const host = `api.parcel.test=${new URL(opened.api.url).origin}`;
  const args = ["parcel", "--app", "post", "--host", host, "--private", "--yes", "--json"];
  const added = await svc(args, { SVC_POST_SECRET: "key-from-the-shell" });
  expect(added.stderr).toContain(`Calls to api.parcel.test go to ${new URL(opened.api.url).origin}.`);
  expect(JSON.parse(added.stdout)).toMatchObject({ added: "post", next: "svc tools --integration post" });
  await vi.waitUntil(async () => (await opened.listTools("post")).length > 0, { timeout: 30_000, interval: 100 });
  expect((await opened.call("post_track", { id: "7" })).status).toBe(200);
  const headers = { authorization: "Bearer key-from-the-shell" };
  expect(opened.api.seen).toMatchObject([
    { path: "/v1/me", headers },
    { path: "/v1/parcels/7", headers },
  ]);
  expect((await opened.desk.find("post"))?.content.actions.map(({ id }) => id)).toContain("find");
}, 180_000);

test("a secret that the piece does not take is refused before anything is added", async () => {
  opened.api.answer({ status: 401, body: "No such key." });
  const host = `api.parcel.test=${new URL(opened.api.url).origin}`;
  const args = ["parcel", "--app", "depot", "--host", host, "--private", "--yes"];
  const { code, stderr } = await svc(args, { SVC_DEPOT_SECRET: "key-of-nobody" });
  expect(code).not.toBe(0);
  expect(stderr).toContain("Parcel: It was refused");
  expect(stderr).not.toContain("key-of-nobody");
  expect(await opened.desk.find("depot")).toBeUndefined();
  expect(await listPieces()).toEqual(["post"]);
}, 180_000);

test("a version that is replaced and an app that is removed leave nothing behind", async () => {
  const pieces = join(opened.service.dataDir, "pieces", "post");
  const [old = ""] = await readdir(pieces);
  await rename(join(pieces, old), join(pieces, "1.0.0"));
  const source = await opened.desk.find("post");
  if (source === undefined) throw new Error("The app was added before.");
  // As an earlier version of the piece would have left it.
  const definition = { ...(source.definition as object), version: "1.0.0", folder: "pieces/post/1.0.0" };
  await opened.desk.add({ ...source, definition }, { replace: true });

  const host = `api.parcel.test=${new URL(opened.api.url).origin}`;
  const replaced = await svc(["parcel", "--app", "post", "--host", host, "--private", "--replace", "--yes"]);
  expect(replaced.code).toBe(0);
  await vi.waitUntil(async () => (await readdir(pieces)).join() === "1.2.3", { timeout: 30_000, interval: 100 });
  expect((await opened.call("post_track", { id: "7" })).status).toBe(200);

  const home = join(opened.service.dataDir, "home");
  const removed = await runSvc(["remove", "post", "--yes", "--data", opened.service.dataDir], home);
  expect(removed.code).toBe(0);
  await vi.waitUntil(async () => (await listPieces()).length === 0, { timeout: 30_000, interval: 100 });
}, 180_000);

test("a name that is taken and a host without an address are refused before anything is installed", async () => {
  const taken = await svc(["parcel", "--app", "notes", "--yes"]);
  expect(taken.stderr).toContain('There is already an app "notes".');
  const host = await svc(["parcel", "--host", "api.parcel.test", "--yes"]);
  expect(host.stderr).toContain('"api.parcel.test" does not name a host and its address.');
  expect(await listPieces()).toEqual([]);
}, 180_000);
