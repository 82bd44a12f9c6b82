/** A sentence of an error, with the request it is about behind it: people read first what failed. */
export function nameRequest(sentence: string, label: string): string {
  return `${sentence.trimEnd().replace(/(?<!\.)\.$/, "")} (${label}).`;
}

/** The sentence without the request, for whoever the request means nothing to. */
export function withoutRequest(message: string): string {
  return message.replace(/([.!?…]?) \([A-Z]+ [^\s()]+\)\.$/, (_, end: string) => end || ".");
}
