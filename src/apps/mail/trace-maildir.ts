import { stat } from "node:fs/promises";
import { ServiceError } from "../../service/service-error.ts";
import type { ConnectionView } from "../port/integration.ts";
import type { KnownMessage, MailPlace, MoveTrace, TracedMessage } from "./mail-box.ts";
import { mailFolder } from "./mail-settings.ts";
import {
  findFolderParts,
  isDeliveredAs,
  listFolders,
  listMessages,
  locateMessages,
  type MessagePlace,
} from "./maildir.ts";

/** A place in a Maildir as the actions use it. */
export function toMailPlace({ id, folder, flags, deliveredAt }: MessagePlace): MailPlace {
  const has = (flag: string) => flags.includes(flag);
  return {
    ...{ id, folder, isUnread: !has("S"), isFlagged: has("F"), isAnswered: has("R") },
    marks: [...flags].sort().join(""),
    receivedAt: deliveredAt,
  };
}

/** See `MailBox.trace`: a message keeps its id in whichever folder it lies. */
export async function traceInMaildir(
  connection: ConnectionView,
  messages: readonly KnownMessage[],
  moved: MoveTrace | undefined,
): Promise<TracedMessage[]> {
  const ids = messages.map(({ place }) => place.id);
  const places = await locateMessages(connection, ids, { endsEarly: false });
  const findIn = (id: string, folder: string | undefined) => {
    const found = (places.get(id) ?? []).filter((one) => one.folder.normalize("NFC") === folder?.normalize("NFC"));
    const [only] = found;
    return only === undefined || found.length > 1 ? undefined : toMailPlace(only);
  };
  return messages.map(({ place: { id, folder } }) => ({ here: findIn(id, folder), there: findIn(id, moved?.folder) }));
}

/** Every message that this service delivered with this `unique`, in whichever folder it lies. */
export async function findDelivered(connection: ConnectionView, unique: string): Promise<MailPlace[]> {
  const found: MailPlace[] = [];
  for (const folder of unique === "" ? [] : (await listFolders(connection)).names) {
    const listed = await listMessages(connection, folder);
    found.push(...listed.filter((one) => isDeliveredAs(one, unique)).map(toMailPlace));
  }
  return found;
}

/** The moments when the boxes of a folder last got or lost an entry; "-" for a box that is not there. */
export async function seeBoxes(connection: ConnectionView, folder: string): Promise<string> {
  const parts = await findFolderParts(connection, folder);
  const look = async (box: string) => {
    const at = { parts: [...parts, box], field: "folder" };
    try {
      return String((await mailFolder.open(connection, at, ({ self }) => stat(self, { bigint: true }))).mtimeNs);
    } catch (error) {
      if (error instanceof ServiceError && error.status === 404) return "-";
      throw error;
    }
  };
  return `${await look("new")} ${await look("cur")}`;
}
