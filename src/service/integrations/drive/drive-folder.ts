import type { Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import mime from "mime";
import type { Folder } from "../../files/folder.ts";
import { createConnectionFolder } from "../connection-folder.ts";

/** The folder of a drive connection: setting `folder`, an absolute path. */
export const driveFolder = createConnectionFolder("folder");

/** One thing in a drive as the actions show it; `path` is relative to the drive. */
export interface DriveEntry {
  readonly path: string;
  readonly name: string;
  readonly type: "file" | "folder";
  readonly size?: number;
  /** By extension, unless the action says that it looked inside. */
  readonly mimetype?: string;
  /** ISO 8601. */
  readonly modified: string;
}

/** Describes what `lstat` found; undefined for links, devices and other things a drive does not show. */
export function describeEntry(parents: readonly string[], name: string, stats: Stats): DriveEntry | undefined {
  const common = { path: [...parents, name].join("/"), name, modified: stats.mtime.toISOString() };
  if (stats.isDirectory()) return { ...common, type: "folder" };
  if (!stats.isFile()) return undefined;
  return { ...common, type: "file", size: stats.size, mimetype: mime.getType(name) ?? "application/octet-stream" };
}

/** {@link describeEntry} for an entry of an open folder; undefined also when it has just gone. */
export async function lookAtEntry(
  folder: Folder,
  parents: readonly string[],
  name: string,
): Promise<DriveEntry | undefined> {
  const stats = await lstat(folder.at(name)).catch(() => undefined);
  return stats === undefined ? undefined : describeEntry(parents, name, stats);
}
