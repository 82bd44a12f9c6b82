import { type LoadSdk, loadSdk } from "../host/load-sdk.ts";

/** True for a text that the host shows as it is. */
export type ShowsWhole = (text: string) => boolean;

/** Characters that the host writes in another way on a card; a line end is not shown, and kept. */
const REWRITTEN = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]|(?! )\p{Zs}/u;

/**
 * Asks the host's own function, which masks what looks like a key before a card is shown. The host looks at the text once
 * more with its line ends taken out, so that a key in two lines is found; both looks must leave it as it is.
 */
export async function loadShownText(load: LoadSdk = loadSdk): Promise<ShowsWhole> {
  const { redactSensitiveText: mask } = (await load("logging-core")) ?? {};
  if (typeof mask !== "function") return looksHarmless;
  const isKept = (text: string) => mask(text, { mode: "tools" }) === text;
  return (text) => !REWRITTEN.test(text) && isKept(text) && isKept(text.replaceAll("\n", ""));
}

const SUSPECT =
  /key|token|pass|pwd|secret|auth|bearer|cookie|credential|signature|private|begin|cvv|cvc|card|:\/\/[^\s/]*@|\d{6,}:|\b(?=\w*\d)(?=\w*[g-z_])\w{16,}|\beyJ/i;

/** For a host without that function: false for every text that some host might mask. */
export function looksHarmless(text: string): boolean {
  return !SUSPECT.test(text);
}
