import type { ApprovalSubject } from "../../src/plugin/calls/ask/request.ts";

/** A harmless write that the card suites change one part of. */
export const MAIL_SUBJECT: ApprovalSubject = {
  tool: "mail_send_message",
  integration: "mail",
  account: "Work",
  connection: "con_1",
  arguments: {},
  files: [],
  effect: "write",
  title: "Send a message",
  description: "Sends a message.",
  reason: '"Send a message" changes something in Mail.',
  principal: "p",
};
