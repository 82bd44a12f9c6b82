import type { Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import mime from "mime";
import { z } from "zod";
import { type Folder, withFolder } from "../../files/folder.ts";
import { explainFolderError, refuseSetting } from "../../files/folder-error.ts";
import type { ConnectionView } from "../integration.ts";

/** Name of the one setting of a drive: the folder it shows. */
export const FOLDER_SETTING = "folder";

const settingsSchema = z.looseObject({ [FOLDER_SETTING]: z.string().min(1) });

/** The drive's folder, or ServiceError 422 `integration_misconfigured`. */
export function readFolderSetting(settings: Readonly<Record<string, unknown>>): string {
  const parsed = settingsSchema.safeParse(settings);
  if (!parsed.success) throw refuseSetting(FOLDER_SETTING, "must be the path of a folder.");
  return parsed.data[FOLDER_SETTING];
}

/** A place in a drive and the argument that named it. */
export interface DrivePlace {
  readonly parts: readonly string[];
  readonly field: string;
  readonly create?: boolean;
  /** The entry in question, for error texts. */
  readonly name?: string;
}

/** Runs `use` in a folder of the drive; file system errors come out as ServiceErrors that name the argument. */
export async function inDrive<T>(
  connection: ConnectionView,
  place: DrivePlace,
  use: (folder: Folder) => Promise<T>,
): Promise<T> {
  const { parts, field, create = false, name } = place;
  const root = readFolderSetting(connection.settings);
  try {
    return await withFolder({ root, setting: FOLDER_SETTING, parts, create }, use);
  } catch (error) {
    throw explainFolderError(error, { field, path: [...parts, ...(name === undefined ? [] : [name])].join("/") });
  }
}

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
