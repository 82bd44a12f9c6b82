import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type LocatedFile, locateFiles } from "../../../src/plugin/media/locate/locate-files.ts";
import { createMediaRoots, type MediaRoots } from "../../../src/plugin/media/open/roots.ts";
import { type InspectedFile, inspectFiles } from "../../../src/plugin/media/send/inspect-files.ts";

/** A media folder for one test. */
export interface MediaFolder {
  readonly folder: string;
  readonly roots: MediaRoots;
  /** Writes `inbound/<name>` and returns its absolute path. */
  write(name: string, bytes: Uint8Array | string): Promise<string>;
  /** The reference as a located file of the field `file`. */
  located(reference: string, more?: Partial<LocatedFile>): LocatedFile;
  /** Locates and inspects `{files: references}`; throws when one is refused. */
  inspect(...references: readonly unknown[]): Promise<{ args: Record<string, unknown>; files: InspectedFile[] }>;
  remove(): Promise<void>;
}

const FILES_SCHEMA = {
  type: "object",
  properties: { files: { type: "array", items: { type: "object", file_uploadable: true } } },
};

export async function createMediaFolder(): Promise<MediaFolder> {
  const base = await realpath(await mkdtemp(path.join(tmpdir(), "svc-folder-")));
  const folder = path.join(base, "media");
  const roots = await createMediaRoots([folder], { home: path.join(base, "home"), sleep: async () => undefined });
  await mkdir(path.join(folder, "inbound"));
  return {
    folder,
    roots,
    async write(name, bytes) {
      const file = path.join(folder, "inbound", name);
      await writeFile(file, bytes);
      return file;
    },
    located: (reference, more = {}) => ({ field: "file", path: ["file"], reference, kind: "local", ...more }),
    async inspect(...references) {
      const { args, files } = locateFiles(FILES_SCHEMA, { files: references });
      const inspected = await inspectFiles(roots, files);
      if (!inspected.ok) throw new Error(inspected.refusal.message);
      return { args, files: inspected.files };
    },
    async remove() {
      await roots.close();
      await rm(base, { recursive: true, force: true });
    },
  };
}
