import { type ContentBlock, listLines } from "../../collections/content-tree.ts";
import { firstParam, readRawLine } from "../../collections/content-values.ts";
import { listPeople, type Person } from "./people.ts";

/**
 * Whoever brought an event to the account with these addresses: another organizer, or whoever sent it in its name; undefined for
 * an event of its own, which has no organizer or the account itself.
 */
export function findInviter(event: ContentBlock, own: ReadonlySet<string>): Person | undefined {
  const organizers = listPeople(event, "ORGANIZER");
  const stranger = organizers.find(({ address }) => !own.has(address));
  if (stranger !== undefined) return stranger;
  const senders = listLines(event, "ORGANIZER").flatMap((line) => {
    const sender = firstParam(readRawLine(line)?.params ?? {}, "sent-by");
    return sender === undefined
      ? []
      : [
          sender
            .trim()
            .replace(/^mailto:/i, "")
            .toLowerCase(),
        ];
  });
  const sender = senders.find((address) => address !== "" && !own.has(address));
  return sender === undefined ? undefined : { address: sender };
}
