/** A joiner between emoji and the sign for emoji style change what is seen; so do joiners within Arabic or Indic words. */
const SEEN =
  /(?<=\p{Extended_Pictographic}\ufe0f?)\u200d(?=\p{Extended_Pictographic})|(?<=\p{Extended_Pictographic})\ufe0f/gu;

/**
 * What is left of a text for the eye: nothing of what has no shape, one kind of space, letters composed. Two texts that
 * a human cannot tell apart give the same; letters that merely resemble each other do not.
 */
export function lookAt(text: string): string {
  return text
    .replaceAll(SEEN, "\ue000")
    .replaceAll(/[\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]|(?!\n)\p{Cc}|\p{Cs}/gu, "")
    .replaceAll(/\p{Zs}/gu, " ")
    .normalize("NFC");
}

/** What no text for a human may hold: controls, direction marks, and characters that show nothing. */
export const UNSEEN = /(?!\n)\p{Cc}|[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/u;
