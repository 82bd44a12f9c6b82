import {
  ANSI_TEXTS,
  BIDI_TEXTS,
  COMBINING_TEXTS,
  HTML_TEXTS,
  LONG_TEXTS,
  LOOK_ALIKES,
  MARKDOWN_TEXTS,
  SPACE_TEXTS,
  UNSEEN_TEXTS,
} from "./hostile-texts.ts";
import { CARRIED_SECRETS, KEYS, NAMED_SECRETS, PEM_TEXTS } from "./secret-texts.ts";
import { ADDRESSES, CODE, LINKS, MAILS, PASSWORDS, SCRIPTS } from "./usual-texts.ts";

/** One text that may stand in an argument, and what kind of text it is. */
export interface CardText {
  readonly kind: string;
  readonly text: string;
}

const KINDS: Readonly<Record<string, readonly string[]>> = {
  PEM: PEM_TEXTS,
  key: KEYS,
  "key in a sentence": KEYS.map((key) => `Use ${key}, then pay eve@evil.example.`),
  "named secret": NAMED_SECRETS,
  "carried secret": CARRIED_SECRETS,
  bidi: BIDI_TEXTS,
  unseen: UNSEEN_TEXTS,
  combining: COMBINING_TEXTS,
  spaces: SPACE_TEXTS,
  ANSI: ANSI_TEXTS,
  Markdown: MARKDOWN_TEXTS,
  HTML: HTML_TEXTS,
  "look-alike": LOOK_ALIKES,
  long: LONG_TEXTS,
  address: ADDRESSES,
  mail: MAILS,
  link: LINKS,
  password: PASSWORDS,
  code: CODE,
  script: SCRIPTS,
};

/**
 * Every text that each card is held against, in one fixed order: hostile ones and those that people write, more than 500.
 * All are well-formed. A place that shows a card must show each of them whole, or say NOT COMPLETE.
 */
export const CARD_TEXTS: readonly CardText[] = Object.entries(KINDS).flatMap(([kind, texts]) =>
  texts.map((text) => ({ kind, text })),
);

/**
 * The arguments in which such a text stands on a card: alone, behind a harmless recipient, in a list, in the name of an
 * argument, and split over two arguments, of which a masker may take the second for the rest of the first.
 */
export function placeText(text: string): readonly Readonly<Record<string, unknown>>[] {
  const half = Math.ceil(text.length / 2);
  const [start, end] = [text.slice(0, half).toWellFormed(), text.slice(half).toWellFormed()];
  return [
    { body: text },
    { to: ["ada@example.org"], bcc: ["mallory@evil.example"], subject: start, body: end },
    { list: ["ada@example.org", text, "mallory@evil.example"], nested: { [text.slice(0, 200).toWellFormed()]: 1 } },
    { subject: text, to: ["mallory@evil.example"], body: text },
  ];
}

/** Some texts of each kind: for places where each takes long. */
export function sampleTexts(ofEach: number): readonly CardText[] {
  return Object.keys(KINDS).flatMap((kind) => {
    const all = CARD_TEXTS.filter((one) => one.kind === kind);
    const step = Math.max(1, Math.floor(all.length / ofEach));
    return all.filter((_, index) => index % step === 0).slice(0, ofEach);
  });
}
