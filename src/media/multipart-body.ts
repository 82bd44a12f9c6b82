/** The frame of a `multipart/form-data` body with text fields and one file part, as in RFC 7578. */
export interface MultipartFrame {
  readonly contentType: string;
  /** Everything before the file's bytes. */
  readonly before: Buffer;
  /** Everything after them. */
  readonly after: Buffer;
}

/**
 * Frames one file for a form by hand, because undici's FormData can hang beside Node's own. `boundary` must not occur
 * in the file, so it has to be random.
 */
export function frameMultipart(form: {
  readonly boundary: string;
  readonly fields: readonly (readonly [string, string])[];
  readonly part: string;
  readonly fileName: string;
  readonly mimetype: string;
}): MultipartFrame {
  const { boundary, fields, part, fileName, mimetype } = form;
  const texts = fields.map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${quote(name)}"\r\n\r\n${value}\r\n`,
  );
  const file = `--${boundary}\r\ncontent-disposition: form-data; name="${quote(part)}"; filename="${quote(fileName)}"\r\n`;
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    before: Buffer.from(`${texts.join("")}${file}content-type: ${mimetype}\r\n\r\n`),
    after: Buffer.from(`\r\n--${boundary}--\r\n`),
  };
}

function quote(text: string): string {
  return text.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}
