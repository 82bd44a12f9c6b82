import { cleanText } from "../../shared/base/text.ts";

/** The first that matches counts: later ones call themselves by the names of earlier ones. */
const BROWSERS = [
  ["Edge", /\bEdg(e|A|iOS)?\//],
  ["Opera", /\bOPR\//],
  ["Samsung Internet", /\bSamsungBrowser\//],
  ["Firefox", /\b(Firefox|FxiOS)\//],
  ["Chrome", /\b(HeadlessChrome|Chrome|CriOS)\//],
  ["Safari", /\bMac OS X\b.*\bSafari\//],
  ["A WebKit browser", /\bAppleWebKit\//],
] as const;

const SYSTEMS = [
  ["iPhone", /\biPhone\b/],
  ["iPad", /\biPad\b/],
  ["Android", /\bAndroid\b/],
  ["Windows", /\bWindows\b/],
  ["macOS", /\bMac OS X\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["Linux", /\bLinux\b/],
] as const;

const MAX_UNKNOWN = 60;

/** Browser and system by the `User-Agent` header, e.g. `Firefox on Linux`; other programs' own text is cleaned. */
export function describeBrowser(userAgent: string | undefined): string {
  const [browser, system] = [BROWSERS, SYSTEMS].map(
    (known) => known.find(([, pattern]) => pattern.test(userAgent ?? ""))?.[0],
  );
  if (browser === undefined) return cleanText(userAgent, MAX_UNKNOWN) ?? "Unknown browser";
  return system === undefined ? browser : `${browser} on ${system}`;
}
