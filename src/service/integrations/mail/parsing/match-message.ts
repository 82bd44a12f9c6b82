import { foldText, type MailQuery, type MailTerm } from "../mail-query.ts";

/** What a search looks at. Whoever wrote the message chose its texts: folding them may take minutes. */
export interface SearchedMessage {
  readonly from: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly isAttached: boolean;
}

/** Whether the terms hold that `matchesPlace` cannot tell. */
export function matchesMessage({ terms }: MailQuery, message: SearchedMessage): boolean {
  const folded = new Map<string, string>();
  const fold = (text: string) => {
    const known = folded.get(text) ?? foldText(text);
    folded.set(text, known);
    return known;
  };
  return terms.every((term) => {
    const held = testMessage(term, message, fold);
    return held === undefined || held !== term.isNegated;
  });
}

function testMessage(term: MailTerm, message: SearchedMessage, fold: (text: string) => string): boolean | undefined {
  const { subject, from, to, cc, text } = message;
  const contains = (wanted: string, texts: readonly string[]) => texts.some((one) => fold(one).includes(wanted));
  switch (term.kind) {
    case "attachment":
      return message.isAttached;
    case "subject":
      return contains(term.text, [subject]);
    case "from":
      return contains(term.text, [from]);
    case "to":
      return contains(term.text, to);
    case "cc":
      return contains(term.text, cc);
    case "words":
      return contains(term.text, [subject, from, ...to, ...cc, text]);
    default:
      return undefined;
  }
}
