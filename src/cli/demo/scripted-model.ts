import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { ATTACHMENT_NAME } from "./sample-content.ts";

/** Where the demo's agent is told to find the attachment, in the form a runtime hands attachments to a model. */
const ATTACHMENT_REFERENCE = `media://inbound/${ATTACHMENT_NAME}`;

/** What the human asks for; a real model gets the same sentence. */
export const TASK = `Read my unread mail. If somebody asks for the quote, save the attachment ${ATTACHMENT_REFERENCE} to the folder "Quotes" of my drive.`;

/**
 * A model that plays its part without a network: search the mailbox, open what it found, save the file, report.
 * Only the model is scripted; every call it makes runs for real and its later turns use real results.
 */
export function createScriptedModel() {
  return fakeModel()
    .respond(() => callTool("mail_search", { query: "is:unread" }))
    .respond((messages) => {
      const id = findInLastResult(messages, "message_id");
      return id === undefined
        ? new AIMessage("There is no unread mail, so there is nothing to save.")
        : callTool("mail_read_message", { message_id: id });
    })
    .respond(() =>
      callTool("drive_upload_file", {
        folder: "Quotes",
        file: { s3key: ATTACHMENT_REFERENCE },
        if_exists: "rename",
      }),
    )
    .respond((messages) => {
      const last = messages.findLast((message) => ToolMessage.isInstance(message));
      if (last?.status === "error") return new AIMessage("The file was not saved. I did not try again.");
      // The human may have changed folder or name, and the drive numbers a name that is taken.
      const path = findInLastResult(messages, "path");
      return new AIMessage(`Done: the quote is in your drive${path === undefined ? "" : `, as ${path}`}.`);
    });
}

let callCount = 0;

function callTool(name: string, args: Record<string, unknown>): AIMessage {
  callCount += 1;
  return new AIMessage({ content: "", tool_calls: [{ id: `call_${callCount}`, name, args, type: "tool_call" }] });
}

/** The first text of this key in the last tool result, whatever stands around it. */
function findInLastResult(messages: readonly BaseMessage[], key: "message_id" | "path"): string | undefined {
  const last = messages.findLast((message) => ToolMessage.isInstance(message));
  return last?.text.match(new RegExp(`"${key}":\\s*"([^"]+)"`))?.[1];
}
