import { sha256Hex } from "../../shared/base/hash.ts";
import type { AppEvent, Watch } from "../port/integration.ts";
import type { FoundMessage, OpenMailBox } from "./mail-box.ts";
import { parseMailQuery } from "./mail-query.ts";
import { searchMail, summariseMessage } from "./read-mail.ts";

/** Finds mail that came since, by the queries of `mail_search`. */
export function createMailWatch(open: OpenMailBox): Watch {
  const like = searchMail(open);
  return {
    kind: "mail",
    like: like.id,
    async look({ query, since, limit, isKnown }, context) {
      const wanted = parseMailQuery(query);
      const terms = [...wanted.terms, { kind: "since", at: since, isNegated: false } as const];
      const box = await open(context, like);
      const folder = await box.findFolder(wanted.folder ?? "INBOX", { mayBeMade: false });
      const { found, more } = await box.search({ ...wanted, terms }, { folder, limit, isKnown });
      return { events: found.map(toEvent), more };
    },
  };
}

function toEvent(found: FoundMessage): AppEvent {
  const { place, message } = found;
  const { message_id, folder, from, subject, date, received, snippet } = summariseMessage(found);
  const madeAt = Date.parse(date ?? "");
  return {
    id: identify(found),
    place: place.id,
    at: place.receivedAt,
    ...(place.epoch === undefined ? {} : { epoch: place.epoch }),
    ...(Number.isNaN(madeAt) ? {} : { madeAt }),
    values: {
      message_id,
      folder,
      from,
      subject,
      received,
      snippet,
      ...(message.messageIdHeader === undefined ? {} : { message_id_header: message.messageIdHeader }),
    },
  };
}

/**
 * By what its sender wrote, which a mailbox keeps when it numbers everything anew. Without a Message-ID of its own two
 * messages may be alike, and the time of arrival tells them apart.
 */
function identify({ place, message }: FoundMessage): string {
  const { messageIdHeader, from, subject, date, text } = message;
  const rest = messageIdHeader === undefined ? [place.receivedAt, text] : [messageIdHeader];
  return sha256Hex(JSON.stringify([from, subject, date ?? "", ...rest]));
}
