/**
 * The one spelling of an address, as `parseBaseUrl` of the client gives it, so that addresses can be compared as text.
 * What cannot be an address stays as it is, for the client to refuse. Written here because a registration loads no
 * other room.
 */
export function spellAddress(text: string): string {
  const url = URL.parse(text);
  if (url === null || url.username + url.password + url.search + url.hash !== "") return text;
  return /^https?:$/.test(url.protocol) ? url.origin + url.pathname.replace(/\/+$/, "") : text;
}
