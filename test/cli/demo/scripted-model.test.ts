import { type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { expect, test } from "vitest";
import { createScriptedModel, TASK } from "../../../src/cli/demo/play-agent.ts";

/** Plays the whole script; the upload ends with `last`. */
async function play(last: Pick<ToolMessage, "content" | "status">): Promise<string> {
  const model = createScriptedModel();
  const messages: BaseMessage[] = [new HumanMessage(TASK)];
  for (const { content, status } of [{ content: '{"message_id": "m1"}' }, { content: "{}" }, last] as const) {
    const reply = await model.invoke(messages);
    messages.push(
      reply,
      new ToolMessage({ content, tool_call_id: "call", ...(status === undefined ? {} : { status }) }),
    );
  }
  return (await model.invoke(messages)).text;
}

test("says where the file is, also after the human changed the folder", async () => {
  const content = 'Result:\n{\n  "path": "Offers/quote-2026-114 (2).pdf",\n  "size": 699\n}';
  expect(await play({ content, status: "success" })).toBe(
    "Done: the quote is in your drive, as Offers/quote-2026-114 (2).pdf.",
  );
});

test("does not claim a file that a human declined", async () => {
  expect(await play({ content: "The user declined this call.", status: "error" })).toMatch(/^The file was not saved/);
});
