import { z } from "zod";
import { type Folder, withFolder } from "../files/folder.ts";
import { explainFolderError } from "../files/folder-error.ts";
import { refuseSetting } from "../service-error.ts";
import type { ConnectionView } from "./integration.ts";

/** A place below a connection's folder and the argument that named it. */
interface FolderPlace {
  readonly parts: readonly string[];
  readonly field: string;
  /** Make missing folders. Default false. */
  readonly create?: boolean;
  /** The entry in question, for error texts. */
  readonly name?: string;
}

/** Access to the one folder that a connection shows. */
export interface ConnectionFolder {
  readonly setting: string;
  /** The folder of these settings, or ServiceError 422 `integration_misconfigured`. */
  read(settings: Readonly<Record<string, unknown>>): string;
  /** Runs `use` in a folder below it; file system errors come out as ServiceErrors that name the argument. */
  open<T>(connection: ConnectionView, place: FolderPlace, use: (folder: Folder) => Promise<T>): Promise<T>;
  /** Throws ServiceError 422 when the setting is unusable, 503 while the folder is not there. */
  check(settings: Readonly<Record<string, unknown>>): Promise<void>;
}

/** Access to the folder named by the setting `setting`. */
export function createConnectionFolder(setting: string): ConnectionFolder {
  const schema = z.looseObject({ [setting]: z.string().min(1) });
  const read: ConnectionFolder["read"] = (settings) => {
    const value = schema.safeParse(settings).data?.[setting];
    if (typeof value !== "string") throw refuseSetting(setting, "must be the path of a folder.");
    return value;
  };
  return {
    setting,
    read,
    async open(connection, { parts, field, create = false, name }, use) {
      try {
        return await withFolder({ root: read(connection.settings), setting, parts, create }, use);
      } catch (error) {
        const path = [...parts, ...(name === undefined ? [] : [name])].join("/");
        throw explainFolderError(error, { field, path });
      }
    },
    async check(settings) {
      const root = read(settings);
      try {
        await withFolder({ root, setting }, async () => undefined);
      } catch (error) {
        throw explainFolderError(error, { field: setting, path: setting });
      }
    },
  };
}
