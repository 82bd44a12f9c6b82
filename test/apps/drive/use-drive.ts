import { afterAll, beforeAll, expect } from "vitest";
import { createDriveIntegration } from "../../../src/apps/drive/drive-integration.ts";
import type { KeptWrite } from "../../../src/apps/port/undo.ts";
import { createKeeper, createRunner } from "../run-action.ts";
import type { DriveHost } from "./describe-drive.ts";
import { type Call, files } from "./drive-calls.ts";
import { openDriveHand } from "./drive-hand.ts";

/** Few things, so that what two do meets often. */
const START = { "x.txt": "x\n", "a/x.txt": "ax\n", "a/b/y.txt": "y\n", "e/z.txt": "z\n" };
/** A drive of the host for tests of what writes keep; `open` begins a new one with a few files. */
export function useDrive(start: () => Promise<DriveHost>) {
  const integration = createDriveIntegration();
  let host: DriveHost;
  let settings: Readonly<Record<string, unknown>>;
  beforeAll(async () => {
    host = await start();
  });
  afterAll(async () => {
    await integration.close?.();
    await host?.close();
  });
  const keeper = () => createKeeper(integration, { settings: { ...settings }, files, now: Date.now });
  const run: ReturnType<typeof createRunner> = (...args) =>
    createRunner(integration, { settings: { ...settings }, now: Date.now })(...args);
  const hand = openDriveHand(run);
  const write = async (path: string, text: string) => (host.direct ?? hand).write(path, text);
  /** Texts by paths, and folders, without the trash of the drive. */
  const readAll = async (folder = ""): Promise<Readonly<Record<string, string>>> =>
    folder === "" ? (host.direct ?? hand).readAll() : hand.readAll(folder);
  return {
    async open() {
      settings = await host.open();
      for (const [path, text] of Object.entries(START)) await write(path, text);
    },
    read: hand.read,
    write,
    readAll,
    canCut: () => host.cut !== undefined,
    cut: (cut: Parameters<NonNullable<DriveHost["cut"]>>[0]) => host.cut?.(cut),
    async keep([action, args]: Call, onKept?: () => Promise<void> | void) {
      const ran = await keeper().run(action, { ...args }, onKept && { onKept });
      return { output: undefined, error: undefined, ...ran };
    },
    plan: ([action]: Call, kept: KeptWrite | undefined) => keeper().plan(action, kept ?? expect.fail("not kept")),
    settle: ([action]: Call, { intent }: KeptWrite) => keeper().settle(action, { intent, after: undefined }),
    /** Somebody else changes what a write made, or takes the place that it left. */
    async meddle([action, args]: Call, { path, type }: Readonly<Record<string, unknown>>) {
      const isFolder = type === "folder" || action === "create_folder";
      const isInside = isFolder || (action === "delete_file" && !String(args.path).includes("."));
      await write(`${String(path)}${isInside ? "/theirs.txt" : ""}`, "theirs");
    },
  };
}
