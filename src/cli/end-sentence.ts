/** Text from outside with a full stop, where it has no end of its own, so that another sentence can follow. */
export function endSentence(text: string): string {
  return /[.!?…]$/.test(text.trimEnd()) ? text : `${text}.`;
}
