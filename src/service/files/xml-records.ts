import { Parser } from "htmlparser2";

/** Texts of elements by their names without a prefix; of several with one name the first that has a text. */
export type XmlFields = ReadonlyMap<string, string>;

/**
 * Reads an XML document that is mostly a list, such as the listing of a bucket, piece by piece. Entities of a DTD are not
 * known, so that nothing expands.
 *
 * @param records names of the elements that are the entries of the list, without a prefix
 * @param onRecord is given each entry with every element in it; an entry ends with its end tag
 * @returns every element outside of the entries
 */
export async function readXmlRecords(
  bytes: AsyncIterable<Uint8Array>,
  records: readonly string[],
  onRecord: (name: string, fields: XmlFields) => void,
): Promise<XmlFields> {
  const outer = new Map<string, string>();
  let inner: { readonly name: string; readonly fields: Map<string, string> } | undefined;
  let text = "";
  const parser = new Parser(
    {
      onopentagname(tag) {
        const name = dropPrefix(tag);
        text = "";
        if (inner === undefined && records.includes(name)) inner = { name, fields: new Map() };
        else note(inner?.fields ?? outer, name, "");
      },
      ontext(part) {
        text += part;
      },
      onclosetag(tag) {
        const name = dropPrefix(tag);
        if (inner?.name === name) {
          onRecord(name, inner.fields);
          inner = undefined;
        } else note(inner?.fields ?? outer, name, text.trim());
        text = "";
      },
    },
    { xmlMode: true },
  );
  const decoder = new TextDecoder();
  for await (const piece of bytes) parser.write(decoder.decode(piece, { stream: true }));
  parser.end(decoder.decode());
  return outer;
}

function note(fields: Map<string, string>, name: string, text: string): void {
  if (!fields.get(name)) fields.set(name, text);
}

function dropPrefix(tag: string): string {
  return tag.slice(tag.indexOf(":") + 1);
}
