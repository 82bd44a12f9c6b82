const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Where a browser ends up, in words for the owner: the host, or the scheme of an installed app. */
export function describeDestination(redirectUri: string): { destination: string; isLocal: boolean } {
  const { protocol, host, hostname } = new URL(redirectUri);
  if (protocol !== "http:" && protocol !== "https:") return { destination: `${protocol}//`, isLocal: true };
  return { destination: host, isLocal: LOOPBACK.has(hostname) };
}

/** The source expression that lets a form lead there; an IPv6 address has none of its own. */
export function toFormTarget(redirectUri: string): string {
  const { protocol, origin, hostname } = new URL(redirectUri);
  const isWeb = protocol === "http:" || protocol === "https:";
  return isWeb && !hostname.startsWith("[") ? origin : protocol;
}
