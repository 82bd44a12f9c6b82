import { addressParser } from "postal-mime";
import { refuseValue } from "../../service/service-error.ts";

const ADDRESS = /^[^\s@<>()[\],;:"\\\p{Cc}]{1,64}@[\p{L}\p{N}](?:[\p{L}\p{N}.-]{0,251}[\p{L}\p{N}])?$/u;

/** A mail address with the name beside it, which may be empty. */
export interface Mailbox {
  readonly name: string;
  readonly address: string;
}

/** Invisible characters. A name may hold those that join letters in some scripts. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
const JOINERS = /[\u200c\u200d]/g;

/**
 * The one mailbox in `text` (`a@b.org`, `Name <a@b.org>` or `"Name, more" <a@b.org>`). Undefined when it is not exactly one;
 * when a mail program could read it in another way than a human does, since put together again it is not what was given;
 * when its name holds an `@`, as another address does; and when it has invisible characters.
 */
export function parseAddress(text: string): Mailbox | undefined {
  const found = addressParser(text);
  const [one] = found;
  if (found.length !== 1 || one?.address === undefined || !ADDRESS.test(one.address)) return undefined;
  const { name, address } = one;
  if (UNSEEN.test(address) || UNSEEN.test(name.replaceAll(JOINERS, "")) || /[@\uff20\ufe6b]/.test(name))
    return undefined;
  const given = text.trim();
  const quoted = `"${name.replaceAll(/["\\]/g, "\\$&")}"`;
  const forms = name === "" ? [address, `<${address}>`] : [`${name} <${address}>`, `${quoted} <${address}>`];
  return forms.includes(given) ? { name, address } : undefined;
}

/** Parses every entry of a list argument. Throws ServiceError 400 naming the entry, e.g. `arguments.to[1]`. */
export function parseAddresses(list: readonly string[], field: string): Mailbox[] {
  return list.map((text, index) => {
    const mailbox = parseAddress(text);
    if (mailbox === undefined)
      throw refuseValue(
        `${field}[${index}]`,
        "is not one mail address, or could be read as another one.",
        'Write "name@example.org" or "Name <name@example.org>".',
      );
    return mailbox;
  });
}
