import { isPublicHost } from "../../service/fetch/address-rules.ts";

/** Why an address may not be used, and the owner's next step. */
export interface AddressProblem {
  readonly problem: string;
  readonly hint: string;
}

/** The rules for every address that calls or sign-ins go to; undefined when it keeps them. */
export function findAddressProblem(
  url: URL,
  { isPrivate, takesQuery }: { readonly isPrivate: boolean; readonly takesQuery: boolean },
): AddressProblem | undefined {
  const { origin, protocol, hostname } = url;
  if (protocol !== "https:" && protocol !== "http:") {
    return { problem: `${protocol} is not the beginning of a web address.`, hint: "Use https." };
  }
  if (url.username || url.password || url.hash || (url.search && !takesQuery)) {
    const hint = "Leave out user, password, query and fragment.";
    return { problem: `${origin}${url.pathname} is to be the address alone.`, hint };
  }
  if (protocol === "http:" && !isPrivate) {
    const hint = "Use https; a server of your own network may use http with --private.";
    return { problem: `${origin} is not encrypted.`, hint };
  }
  if (isPrivate || isPublicHost(hostname)) return undefined;
  const hint = "If you mean a server of your own network, add --private.";
  return { problem: `${hostname} is not a public host.`, hint };
}

/** Where the API is, as far as its document and the owner say. */
export interface ApiBase {
  /** With `{name}` for each open part. */
  readonly address: string;
  /** Names of the open parts. */
  readonly parts: readonly string[];
  readonly isPrivate: boolean;
}

/**
 * The address of a sign-in, relative ones resolved against that of the API, as the standard has it. Open parts of the API's
 * address stay open in it.
 */
export function readEndpoint(given: string, base: ApiBase): { readonly url: string } | AddressProblem {
  const url = URL.parse(given, URL.parse(base.address)?.href);
  const hint = "Name the addresses of the sign-in with --auth-url and --token-url.";
  if (url === null) return { problem: "its address cannot be read.", hint };
  const href = url.href.replaceAll(/%7B|%7D/gi, (sign) => decodeURIComponent(sign));
  const open = [...href.matchAll(/\{([^{}]*)\}/g)].find(([, name = ""]) => !base.parts.includes(name));
  if (open !== undefined) return { problem: `nothing says what ${open[0]} in its address stands for.`, hint };
  return findAddressProblem(url, { ...base, takesQuery: true }) ?? { url: href };
}
