import type { S3Object } from "../../../service/files/s3-listing.ts";
import { typeByName } from "../../../service/files/sniff-mimetype.ts";
import type { FolderEntry } from "../../port/connection-folder.ts";
import { type DriveThing, toText } from "../drive.ts";

/** Names that no path of an action can hold are left out. */
export function isNameable(name: string): boolean {
  return name !== "" && name !== "." && name !== "..";
}

/** A folder, of which a bucket knows only the name. */
export function toFolder(parents: readonly string[], name: string): FolderEntry {
  return { path: toText({ parents, name }), name, type: "folder" };
}

/** A file as the actions show it. */
export async function toFile(
  parents: readonly string[],
  name: string,
  { size, writtenAt }: S3Object,
): Promise<FolderEntry> {
  const mimetype = (await typeByName(name)) ?? "application/octet-stream";
  const modified = new Date(writtenAt).toISOString();
  return { path: toText({ parents, name }), name, modified, type: "file", size, mimetype };
}

/** An object below `prefix`; of one that stands for a folder, the path ends in a slash. */
export async function toThing(object: S3Object, prefix: string): Promise<DriveThing> {
  const path = object.name.slice(prefix.length);
  const entry = await toFile([], path.split("/").findLast((part) => part !== "") ?? "", object);
  return { entry: { ...entry, path, type: path.endsWith("/") ? "folder" : "file" }, etag: object.etag };
}
