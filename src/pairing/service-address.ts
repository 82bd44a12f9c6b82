import { parseBaseUrl } from "../client/base-url.ts";

/**
 * The one spelling of a service's address, so that addresses can be compared as text: small letters in the host, no
 * default port, no slash at the end. What cannot be an address stays as it is, for whoever uses it to refuse.
 */
export function spellAddress(text: string): string {
  try {
    return parseBaseUrl(text, true);
  } catch {
    return text;
  }
}
