import type { Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import { z } from "zod";
import { type Folder, withFolder } from "../../service/files/folder.ts";
import { typeByName } from "../../service/files/sniff-mimetype.ts";
import { DISK_FAULTS } from "../../service/files/staged-file.ts";
import { type Keep, keepInTrash, moveToTrash, writeFileDurably } from "../../service/files/write-file.ts";
import {
  refuseMissing,
  refuseSetting,
  refuseUnavailable,
  refuseValue,
  ServiceError,
} from "../../service/service-error.ts";
import { UNFLUSHED } from "../../shared/base/disk.ts";
import { errorCode, hasCode } from "../../shared/base/error-code.ts";
import type { ConnectionView } from "./integration.ts";
import { refuseChanged } from "./preview.ts";

type Settings = ConnectionView["settings"];

/** A place below a connection's folder and the argument that named it. */
interface FolderPlace {
  readonly parts: readonly string[];
  readonly field: string;
  /** Make missing folders. Default false. */
  readonly create?: boolean;
  /** The entry in question, for error texts. */
  readonly name?: string;
}

/** An entry that goes to the trash. */
interface TrashedPlace extends FolderPlace {
  readonly name: string;
  /** The folder of the trash that it goes to, chosen before by `chooseTrashFolder`. Default: a new one. */
  readonly trashFolder?: readonly string[] | undefined;
}

/** Access to the one folder that a connection shows. File system errors come out as ServiceErrors that name the argument. */
export interface ConnectionFolder {
  /** The folder of these settings, or ServiceError 422 `integration_misconfigured`. */
  read(settings: Settings): string;
  /** Runs `use` in a folder below it. */
  open<T>(connection: ConnectionView, place: FolderPlace, use: (folder: Folder) => Promise<T>): Promise<T>;
  /**
   * Moves the entry `name` to the trash of the folder; its path there. `check` is called as the last thing before, and when it
   * throws, the entry stays. `now` in milliseconds since the epoch.
   */
  trash(
    connection: ConnectionView,
    entry: TrashedPlace & { readonly check?: () => Promise<void> },
    now: number,
  ): Promise<string>;
  /** Keeps the file `name` there, too, as it is before it is replaced. */
  keep(connection: ConnectionView, entry: TrashedPlace, now: number): ReturnType<Keep>;
  /** Opens the folder once: throws ServiceError 422 when the setting is unusable, 503 while the folder is not there. */
  check(settings: Settings): Promise<void>;
}

/** Access to the folder named by the setting `setting`, an absolute path. */
export function createConnectionFolder(setting: string): ConnectionFolder {
  const schema = z.looseObject({ [setting]: z.string().min(1) });
  const read: ConnectionFolder["read"] = (settings) => {
    const value = schema.safeParse(settings).data?.[setting];
    if (typeof value !== "string") throw refuseSetting(setting, "must be the path of a folder.");
    return value;
  };
  return {
    read,
    open: ({ settings }, { parts, field, create = false, name }, use) => {
      const place = { root: read(settings), setting, parts, create };
      return explained(() => withFolder(place, use), field, name === undefined ? parts : [...parts, name]);
    },
    trash: ({ settings }, { parts: parents, field, name, check, trashFolder }, now) => {
      const place = { root: read(settings), setting, parents, name, check, trashFolder };
      return explained(() => moveToTrash(place, now), field, [...parents, name]);
    },
    keep: ({ settings }, { parts: parents, field, name, trashFolder }, now) => {
      const place = { root: read(settings), setting, parents, name, trashFolder };
      return explained(() => keepInTrash(place, now), field, [...parents, name]);
    },
    check: async (settings) => {
      const root = read(settings);
      await explained(() => withFolder({ root, setting }, async () => undefined), setting, [setting]);
    },
  };
}

/** The folder of a drive or of notes. */
export const localFolder = createConnectionFolder("folder");

async function explained<T>(work: () => Promise<T>, field: string, path: readonly string[]): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw explainFolderError(error, field, path.join("/"));
  }
}

/**
 * Writes a file into an open folder; a name that is taken is ServiceError 400 at `taken.field`, and 412 where it was shown as
 * free.
 */
export async function saveFile(
  folder: Folder,
  parts: readonly string[],
  file: Parameters<typeof writeFileDurably>[1],
  taken: { readonly field: string; readonly hint: string; readonly wasFree?: boolean },
): ReturnType<typeof writeFileDurably> {
  try {
    return await writeFileDurably(folder, file);
  } catch (error) {
    const path = [...parts, file.name].join("/");
    if (hasCode(error, "EEXIST") && taken.wasFree) throw refuseChanged();
    if (hasCode(error, "EEXIST")) throw refuseValue(taken.field, `is taken: "${path}" exists.`, taken.hint);
    const isName = hasCode(error, "EINVAL") || hasCode(error, "ENAMETOOLONG");
    throw (isName && refuseEntry(errorCode(error) ?? "", taken.field, path)) || error;
  }
}

const NO_FOLDER = ["passes through something that is not a folder", "Symbolic links are not followed."] as const;
const TAKEN = ["already exists", "Choose another name."] as const;
/** The problem of the argument, and a hint, by the code of the file system. */
const REFUSALS: Readonly<Record<string, readonly [problem: string, hint?: string]>> = {
  ENOTDIR: NO_FOLDER,
  ELOOP: NO_FOLDER,
  EEXIST: TAKEN,
  ENOTEMPTY: TAKEN,
  INSIDE: ["lies inside the folder that is to be moved"],
  EINVAL: ["cannot be a name on this disk", "Choose another name."],
  EFBIG: ["is too large to be read"],
  EISDIR: ["is a folder, not a file"],
  ENAMETOOLONG: ["is longer than this disk allows"],
  EXDEV: ["lies on another disk", "Copy and delete instead of moving."],
};

/**
 * The refusal that a code of a file system, such as `ENOENT`, stands for: 404, or 400 at `field`; undefined for a code that
 * says nothing about the arguments.
 */
export function refuseEntry(code: string, field: string, path: string): ServiceError | undefined {
  const quoted = `"${path}"`;
  if (code === "ENOENT")
    return refuseMissing(`There is no ${quoted} in this connection's folder.`, "List the folder to see what is there.");
  const [problem, hint] = REFUSALS[code] ?? [];
  return problem === undefined ? undefined : refuseValue(field, `${problem}: ${quoted}.`, hint);
}

/** Explains a failed file operation to the caller; never names a path of this machine. */
function explainFolderError(error: unknown, field: string, path: string): ServiceError {
  if (error instanceof ServiceError) return error;
  const code = errorCode(error) ?? "unknown";
  const quoted = `"${path}"`;
  const refused = refuseEntry(code, field, path);
  if (refused !== undefined) return refused;
  if (code === UNFLUSHED) {
    const message = `${quoted} was changed, but its disk did not confirm it: a crash may undo it.`;
    const hint = "Look whether it is as it should be before anything is repeated, and check the disk.";
    return new ServiceError(500, "outcome_unknown", message, { type: "provider", hint, cause: error });
  }
  if (DISK_FAULTS.has(code)) {
    const cure = code === "ENOSPC" || code === "EDQUOT" ? "Free some space" : "Check the disk";
    const message = `The disk behind this connection does not work at the moment (${code}).`;
    return refuseUnavailable(message, `${cure}, then repeat the call.`, error);
  }
  if (code === "EACCES" || code === "EPERM")
    return new ServiceError(422, "integration_misconfigured", `The service may not touch ${quoted} (${code}).`, {
      type: "configuration",
      hint: "Give the user that runs the service access to the connection's folder.",
      cause: error,
    });
  const message = `The operation on ${quoted} failed unexpectedly (${code}).`;
  return new ServiceError(500, "provider_error", message, { type: "provider", cause: error });
}

/** One thing in a folder as the actions show it; `path` is relative to the connection's folder. */
export interface FolderEntry {
  readonly path: string;
  readonly name: string;
  readonly type: "file" | "folder";
  readonly size?: number;
  /** By extension, unless the action says that it looked inside. */
  readonly mimetype?: string;
  /** ISO 8601; unknown of folders that are only the beginnings of names. */
  readonly modified?: string;
}

/** Describes an `lstat` result; undefined for links, devices and other entries that are not shown. */
export async function describeEntry(
  parents: readonly string[],
  name: string,
  stats: Stats,
): Promise<FolderEntry | undefined> {
  const common = { path: [...parents, name].join("/"), name, modified: stats.mtime.toISOString() };
  if (stats.isDirectory()) return { ...common, type: "folder" };
  if (!stats.isFile()) return undefined;
  return {
    ...common,
    type: "file",
    size: stats.size,
    mimetype: (await typeByName(name)) ?? "application/octet-stream",
  };
}

/** {@link describeEntry} for an entry of an open folder; undefined also when it has just gone. */
export async function lookAtEntry(
  folder: Folder,
  parents: readonly string[],
  name: string,
): Promise<FolderEntry | undefined> {
  const stats = await lstat(folder.at(name)).catch(() => undefined);
  return stats === undefined ? undefined : describeEntry(parents, name, stats);
}
