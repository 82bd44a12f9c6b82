import { AIMessage, ToolMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { createAgent } from "langchain";
import { SvcToolkit } from "../../../../src/langchain.ts";
import type { ToolOutcome } from "../../../../src/plugin/calls/outcome.ts";

/** A LangChain agent where nobody sits: makes one call and prints how it ended. */

const [baseUrl = "", apiKey = "", name = "", args = "{}"] = process.argv.slice(2);

const toolkit = await SvcToolkit.create({ baseUrl, apiKey, approve: "owner" });
const model = fakeModel()
  .respondWithTools([{ name, args: JSON.parse(args), id: "call_1" }])
  .respond(new AIMessage("Done."));
const agent = createAgent({ model, tools: toolkit.getTools() });
const { messages } = await agent.invoke({ messages: [{ role: "user", content: "Please." }] });
const outcome = messages.find((one) => ToolMessage.isInstance(one))?.artifact as ToolOutcome | undefined;
console.log(JSON.stringify({ status: outcome?.status }));
await toolkit.close();
