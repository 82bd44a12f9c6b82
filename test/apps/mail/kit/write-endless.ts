/** A message of one megabyte whose text takes minutes to be brought into one Unicode form: marks in the wrong order. */
export function writeMarks(): Buffer {
  return Buffer.from(`Subject: Marks\nContent-Type: text/plain; charset=utf-8\n\na${"\u0301\u0316".repeat(250_000)}`);
}

/** A message of two megabytes that the parser needs hours for: links that do not end, in the HTML beside a text. */
export function writeEndless(): Buffer {
  const head = "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\nx\n--b\n";
  return Buffer.from(`${head}Content-Type: text/html\n\n${'<a href="'.repeat(222_000)}\n--b--\n`);
}
