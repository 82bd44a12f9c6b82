import { expect, it } from "vitest";
import { summariseMessage } from "../../../src/apps/mail/read-mail.ts";

const states = { isUnread: true, isFlagged: false, isAnswered: false, marks: "" };
const place = { id: "1", folder: "INBOX", ...states, receivedAt: 0 };
const message = {
  from: "ann@site.example",
  to: [],
  cc: [],
  bcc: [],
  replyTo: [],
  subject: "",
  date: undefined,
  messageIdHeader: undefined,
  references: undefined,
  textLength: 0,
  attachments: [],
  notes: [],
};

it.each([
  [`View online (https://x.example/${"a".repeat(300)}) Your parcel`, "View online (https://x.example/…) Your parcel"],
  [
    `Pay (https://bank.example@evil.example/${"a".repeat(300)}?b=(c)) now`,
    "Pay (https://bank.example@evil.example/…) now",
  ],
  ["Short (https://x.example/a) stays", "Short (https://x.example/a) stays"],
])("the snippet of %j leaves room for what the message says", (text, snippet) => {
  const found = { place, message: { ...message, text }, attachmentNames: [] };
  expect(summariseMessage(found).snippet).toBe(snippet);
});
