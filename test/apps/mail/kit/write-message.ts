/** A file in a message. */
interface TestAttachment {
  readonly name: string;
  readonly mimetype: string;
  readonly bytes: Buffer;
}

/** A message for tests; headers are written as they are given. */
export interface TestMessage {
  readonly from?: string;
  readonly to?: string;
  readonly subject: string;
  readonly text?: string;
  readonly html?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly attachments?: readonly TestAttachment[];
}

const BOUNDARY = "=_svc_test";

/** A message as another program writes it. */
export function writeMessage(message: TestMessage): string {
  const { from = "Anna <anna@example.com>", to = "ana@example.org", subject, attachments = [] } = message;
  const type = message.html === undefined ? "plain" : "html";
  const body = [`Content-Type: text/${type}; charset=utf-8`, "", message.html ?? message.text ?? "Hello."];
  const head = { From: from, To: to, Subject: subject, Date: "Fri, 20 Nov 2026 09:00:00 +0000", ...message.headers };
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}`);
  lines.push("MIME-Version: 1.0");
  if (attachments.length === 0) return [...lines, ...body, ""].join("\r\n");
  const parts = attachments.flatMap(({ name, mimetype, bytes }) => [
    `--${BOUNDARY}`,
    `Content-Type: ${mimetype}; name="${name}"`,
    `Content-Disposition: attachment; filename="${name}"`,
    "Content-Transfer-Encoding: base64",
    "",
    ...(bytes.toString("base64").match(/.{1,76}/g) ?? []),
  ]);
  const multipart = [`Content-Type: multipart/mixed; boundary="${BOUNDARY}"`, "", `--${BOUNDARY}`, ...body];
  return [...lines, ...multipart, ...parts, `--${BOUNDARY}--`, ""].join("\r\n");
}
