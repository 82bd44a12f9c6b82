import type { MailPlace } from "./mail-box.ts";
import type { MailQuery, MailTerm } from "./mail-query.ts";

/** Whether the terms that can be told without opening the message hold. */
export function matchesPlace({ terms }: MailQuery, place: MailPlace): boolean {
  return terms.every((term) => {
    const held = testPlace(term, place);
    return held === undefined || held !== term.isNegated;
  });
}

function testPlace(term: MailTerm, place: MailPlace): boolean | undefined {
  switch (term.kind) {
    case "unread":
      return place.isUnread;
    case "flagged":
      return place.isFlagged;
    case "since":
      return place.receivedAt >= term.at;
    default:
      return undefined;
  }
}
