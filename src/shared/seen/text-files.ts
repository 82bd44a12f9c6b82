/** Longest file of a call whose text is judged, in bytes. */
export const MAX_JUDGED_BYTES = 256 * 1024;

const TEXT_TYPE =
  /^(?:text\/|message\/|application\/(?:[\w.-]+\+)?(?:json|xml|yaml|x-yaml|javascript|csv|rtf|ics)(?:$|;)|image\/svg)/i;
const TEXT_NAME = /\.(?:txt|md|markdown|csv|tsv|json|jsonl|xml|ya?ml|html?|ics|vcf|eml|log|ini|toml|svg|tex|rst|org)$/i;

/** True for a file whose bytes are text, by its type and name. */
export function isText({ name, mimetype }: { readonly name: string; readonly mimetype: string }): boolean {
  return TEXT_TYPE.test(mimetype) || TEXT_NAME.test(name);
}
