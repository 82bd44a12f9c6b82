import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { dropReceivedId } from "../../../../src/plugin/media/locate/classify-reference.ts";
import { locateFiles } from "../../../../src/plugin/media/locate/locate-files.ts";
import { createMediaRoots, type MediaRoots } from "../../../../src/plugin/media/open/roots.ts";
import { inspectFiles } from "../../../../src/plugin/media/send/inspect-files.ts";
import { HAS_LINKS, IS_WINDOWS } from "../../../suites/this-system.ts";

const ID = "0b8a1c9e-5d3f-4e21-9a77-3c5b1f0e2d44";
const STAGED = `openclaw-staged-${ID}`;
const NAME = `invoice---${ID}.txt`;

let base: string;
let media: string;
let roots: MediaRoots;

beforeEach(async () => {
  base = await realpath(await mkdtemp(path.join(tmpdir(), "svc-received-")));
  media = path.join(base, "state/media");
  for (const folder of [path.join(media, "inbound"), path.join(base, `ws/media/inbound/${STAGED}`)]) {
    await mkdir(folder, { recursive: true });
  }
  await writeFile(path.join(media, "inbound", NAME), "as received");
  await writeFile(path.join(base, `ws/media/inbound/${STAGED}/input-${NAME}`), "changed by the agent");
  await writeFile(path.join(base, `ws/media/inbound/${STAGED}/input-only-here.txt`), "made by the agent");
  await writeFile(path.join(base, "ws/media/inbound/notes.txt"), "made by the agent");
  roots = await createMediaRoots([{ folder: media, areas: ["inbound"] }], { home: path.join(base, "home") });
});

afterEach(async () => {
  await roots.close();
  await rm(base, { recursive: true, force: true });
});

async function inspect(reference: string, more: object = {}) {
  const schema = { type: "object", properties: { file: { type: "object", file_uploadable: true } } };
  const { files } = locateFiles(schema, { file: { s3key: reference, ...more } });
  expect(files).toMatchObject([{ kind: "local" }]);
  const inspected = await inspectFiles(roots, files);
  return inspected.ok ? inspected.files[0] : inspected.refusal.code;
}

test.each([
  ["relative to the workspace", () => `media/inbound/${NAME}`],
  ["with a leading dot", () => `./media/inbound/${NAME}`],
  ["in the folder of one turn", () => `media/inbound/${STAGED}/input-${NAME}`],
  ["absolute in the workspace", () => path.join(base, `ws/media/inbound/${STAGED}/input-${NAME}`)],
  ["absolute in a container", () => `/workspace/media/inbound/${STAGED}/input-${NAME}`],
  ["as a file URL", () => `file:///workspace/media/inbound/${STAGED}/input-${NAME}`],
  ["behind the mark", () => `MEDIA:media/inbound/${STAGED}/input-${NAME}`],
])("a copy %s stands for the attachment as it was received", async (_what, reference) => {
  const file = await inspect(reference());
  expect(file).toMatchObject({ name: "invoice.txt", size: "as received".length });
  expect(file).toMatchObject({ note: expect.stringContaining("the copy in the workspace was not read") });
});

test("the attachment itself is sent without that note, under the name it had", async () => {
  const file = await inspect(`media://inbound/${NAME}`);
  expect(file).toMatchObject({ name: "invoice.txt", size: "as received".length });
  expect(file).not.toHaveProperty("note");
});

test("a file that only the workspace has is not found, not read", async () => {
  expect(await inspect("media/inbound/notes.txt")).toBe("not_found");
  expect(await inspect(`media/inbound/${STAGED}/input-only-here.txt`)).toBe("not_found");
  expect(await inspect(path.join(base, `ws/media/inbound/${STAGED}/input-only-here.txt`))).toBe("not_found");
  expect(await inspect(path.join(base, "ws/media/inbound/notes.txt"))).toBe("outside_roots");
});

test("a human may allow the workspace folder; then the copy there is read", async () => {
  await roots.close();
  const workspace = path.join(base, "ws/media/inbound");
  roots = await createMediaRoots([{ folder: media, areas: ["inbound"] }, workspace], { home: path.join(base, "home") });
  const file = await inspect(path.join(workspace, STAGED, `input-${NAME}`));
  expect(file).toMatchObject({ size: "changed by the agent".length });
  expect(await inspect(path.join(workspace, "notes.txt"))).toMatchObject({ name: "notes.txt" });
});

test.each([
  [`media/inbound/${STAGED}/../../../../etc/passwd`, "dotdot"],
  // Windows holds no name with a dot at its end.
  [`media/inbound/${STAGED}/input-../x`, IS_WINDOWS ? "reserved_name" : "not_found"],
  [`/workspace/media/inbound/../${STAGED}/input-${NAME}`, "dotdot"],
  [`/workspace/media/inbound/${STAGED}/input-.env`, "hidden_component"],
  [`/workspace/media/inbound/${STAGED}/input-id_rsa`, "denied_name"],
  [`/workspace/media/inbound/${STAGED}/input-`, "outside_roots"],
  [`/workspace/media/inbound/${STAGED}/input-${NAME}/`, "is_directory"],
  [`/workspace/media/inbound/openclaw-staged-x/input-${NAME}`, "outside_roots"],
  [`/workspace/media/inbound/${NAME}`, "outside_roots"],
  [`/etc/media/inbound/${STAGED}/passwd`, "outside_roots"],
  ["media/inbound/", "relative_path"],
  [".ssh/id_rsa", "relative_path"],
  [".openclaw/openclaw.json", "relative_path"],
])("%s is refused: %s", async (reference, code) => {
  expect(await inspect(reference)).toBe(code);
});

test.runIf(HAS_LINKS)("a link in the place of the attachment is not followed", async () => {
  await symlink("/etc/passwd", path.join(media, "inbound", "evil.txt"));
  expect(await inspect("media/inbound/evil.txt")).toBe("symlink");
  expect(await inspect(`/workspace/media/inbound/${STAGED}/input-evil.txt`)).toBe("symlink");
});

test.each([
  [NAME, "invoice.txt"],
  [`a.b---${ID.toUpperCase()}.tar.gz`, `a.b---${ID.toUpperCase()}.tar.gz`],
  [`photo---${ID}`, "photo"],
  [`${ID}.png`, `${ID}.png`],
  [`---${ID}.png`, `---${ID}.png`],
  [`..---${ID}`, `..---${ID}`],
  [`.---${ID}.png`, `.---${ID}.png`],
  ["a---b.png", "a---b.png"],
])("the name %s is sent as %s", (name, sent) => {
  expect(dropReceivedId(name)).toBe(sent);
});

test("a name that the caller copied from the reference loses the id too", async () => {
  expect(await inspect(`media://inbound/${NAME}`, { name: NAME })).toMatchObject({ name: "invoice.txt" });
  expect(await inspect(`media://inbound/${NAME}`, { name: "May.txt" })).toMatchObject({ name: "May.txt" });
});
