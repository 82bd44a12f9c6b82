import { SvcError } from "../../shared/errors.ts";

/** True for a host name that cannot leave this machine: `localhost`, `*.localhost`, 127.0.0.0/8 and `[::1]`. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i.test(hostname);
}

/**
 * Checks a base URL and returns it as origin plus path, without a trailing slash.
 * A path prefix is kept. `http:` is accepted for loopback hosts only, unless `allowInsecure` is true.
 *
 * @throws SvcError `invalid_config` with field `baseUrl`; the message never repeats credentials or a query.
 */
export function parseBaseUrl(text: string, allowInsecure = false): string {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw refuse("must be an absolute http or https address", "Give the whole address, such as https://svc.example.");
  }
  if (url.username !== "" || url.password !== "") {
    throw refuse(
      "must not hold a user name or password",
      "Remove the part before the @; the API key is set separately.",
    );
  }
  if (url.search !== "" || url.hash !== "") {
    throw refuse("must not hold a query or a fragment", "Remove everything from the first ? or #.");
  }
  if (url.protocol === "http:" && !isLoopbackHost(url.hostname) && !allowInsecure) {
    throw refuse(
      `uses http for ${url.host}, so the API key would cross the network unprotected`,
      "Use https, or reach it through a tunnel that ends on 127.0.0.1.",
    );
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}

/** Path and query of an address below the base URL, as they stand behind it; undefined for any other address. */
export function pathBelow(baseUrl: string, url: URL | null): string | undefined {
  const base = new URL(baseUrl);
  const prefix = base.pathname.replace(/\/$/, "");
  if (url === null || url.origin !== base.origin || !url.pathname.startsWith(`${prefix}/`)) return undefined;
  return url.pathname.slice(prefix.length) + url.search;
}

/**
 * The one spelling of a service's address, so that addresses can be compared as text: small letters in the host, no
 * default port, no slash at the end. Text that is no address stays as it is and is refused where it is used.
 */
export function spellAddress(text: string): string {
  try {
    return parseBaseUrl(text, true);
  } catch {
    return text;
  }
}

function refuse(problem: string, hint: string): SvcError {
  return new SvcError("invalid_config", `The base URL ${problem}.`, { field: "baseUrl", hint, sent: false });
}
