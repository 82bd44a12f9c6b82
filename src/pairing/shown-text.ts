import { SvcError } from "../errors.ts";

/**
 * An address of the service that a human is about to open, resolved against the base URL and written in plain
 * characters, so that it cannot carry control sequences to a terminal.
 *
 * @throws SvcError `pairing_failed` when it is not an http or https address
 */
export function readShownUrl(text: string, baseUrl: string, field: string): string {
  const url = URL.parse(text, `${baseUrl}/`);
  if (url !== null && (url.protocol === "https:" || url.protocol === "http:")) return url.href;
  throw new SvcError("pairing_failed", `The service sent an approval link (${field}) that no browser can open.`, {
    field,
    hint: "Check that the base URL points at the service.",
  });
}

/** The short code to compare, if it is one: printable and short. */
export function readShownCode(text: string | null | undefined): string | undefined {
  return typeof text === "string" && /^[\x21-\x7e][\x20-\x7e]{0,31}$/.test(text) ? text : undefined;
}
