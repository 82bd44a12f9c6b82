import type { ValueKind } from "./found-value.ts";

/** What the name of an argument says about its value. */
export interface NamedArgument {
  readonly kind?: ValueKind;
  /** True where something goes. */
  readonly sink: boolean;
  /** True for what services make: nobody reads it. */
  readonly opaque: boolean;
}

const OPAQUE = /(?:^|_)(?:ids?|s3key|mimetype|mime_type|etag|cursor|token|md5|sha256)$/;
const RECIPIENT =
  /(?:^|_)(?:to|cc|bcc|recipients?|attendees?|invitees?|guests?|participants?|reply_to|share_with|shared_with|forward_to|send_to|ship_to|deliver_to)$/;
const LINK = /(?:^|_)(?:url|uri|link|href|webhook|callback|endpoint|feed)s?$/;
const HOST = /(?:^|_)(?:host|hostname|domain|server)s?$/;
const ACCOUNT =
  /(?:^|_)(?:iban|account|account_number|account_no|bic|payee_account|konto|kontonummer|compte|rib|wallet|card_number)$/;
const PATH = /(?:^|_)(?:path|folder|destination|directory|dir|parent|file_?name)s?$/;
const AMOUNT = /(?:^|_)(?:amount|price|total|sum|betrag|montant)$/;
const TEXT = /(?:^|_)(?:body|text|html|message|description|content|append|notes?|comment|remarks?|summary)$/;
const PHONE = /(?:^|_)(?:phone|mobile|tel|fax|number)$/;

/** Reads the name of an argument, in snake or camel case. */
export function readArgumentName(name: string): NamedArgument {
  const snake = name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replaceAll("-", "_");
  const kinds: [RegExp, NamedArgument][] = [
    [OPAQUE, { sink: false, opaque: true }],
    [RECIPIENT, { sink: true, opaque: false }],
    [LINK, { kind: "link", sink: true, opaque: false }],
    [HOST, { kind: "host", sink: true, opaque: false }],
    [ACCOUNT, { kind: "account", sink: true, opaque: false }],
    [PATH, { kind: "path", sink: false, opaque: false }],
    [AMOUNT, { kind: "amount", sink: false, opaque: false }],
    [TEXT, { kind: "text", sink: false, opaque: false }],
    [PHONE, { kind: "phone", sink: false, opaque: false }],
  ];
  return kinds.find(([pattern]) => pattern.test(snake))?.[1] ?? { sink: false, opaque: false };
}
