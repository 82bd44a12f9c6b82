import fc from "fast-check";
import { holdFile } from "../run-action.ts";

/** Arguments of a call. */
export type Args = Readonly<Record<string, unknown>>;
/** A call of an action. */
export type Call = readonly [action: string, args: Args];

/** A file that calls save. */
export const FILE = { name: "new.txt", mimetype: "text/plain", s3key: "k" };
/** Its bytes. */
export const files = { k: holdFile("new.txt", "text/plain", "one\nnew\nthree\n") };
/** Saves it. */
export const upload = (folder: string, name: string, if_exists = "error"): Call => [
  "upload_file",
  { file: FILE, folder, name, if_exists },
];
/** Moves something. */
export const move = (path: string, destination: string, if_exists = "error"): Call => [
  "move_file",
  { path, destination, if_exists },
];

/** Few names, so that what two do meets often. */
const folders = fc.constantFrom("", "a");
const names = fc.constantFrom("x.txt", "x.txt", "y.txt", "b");
const paths = fc.tuple(folders, names).map(([folder, name]) => (folder === "" ? name : `${folder}/${name}`));
const ifExists = fc.constantFrom("error", "rename", "replace");
/** Any write. */
export const calls: fc.Arbitrary<Call> = fc.oneof(
  fc.tuple(folders, names, ifExists).map((args) => upload(...args)),
  fc.tuple(paths, paths, ifExists).map((args) => move(...args)),
  fc.constantFrom("a", "a/x.txt", "x.txt", "y.txt").map((path): Call => ["delete_file", { path }]),
  paths.map((path): Call => ["create_folder", { path }]),
);
