import { SvcToolkit } from "../../../../src/langchain.ts";
import { ADAPTERS, resume } from "./adapters.ts";
import { ask, config, note, readAsked, readResults, readStatuses, script } from "./agent-kit.ts";
import { FileSaver } from "./file-saver.ts";

/** A process that serves one message of a conversation, as one of several workers does, and keeps no state of its own. */

const [name = "", baseUrl = "", apiKey = "", file = "", answer = ""] = process.argv.slice(2);

const toolkit = await SvcToolkit.create({
  baseUrl,
  apiKey,
  idempotencyKeys: "off",
  integrations: ["notes", "drive"],
});
const adapter = ADAPTERS.find((candidate) => candidate.name === name);
if (adapter === undefined) throw new Error(`No adapter ${name}`);
const model = answer === "" ? script([note("first"), note("second")]) : script();
const agent = await adapter.start({ toolkit, model, checkpointer: new FileSaver(file) });
const state = await agent.invoke(answer === "" ? ask : resume(JSON.parse(answer)), config);
console.log(
  JSON.stringify({
    asked: readAsked(state),
    statuses: readStatuses(state),
    texts: readResults(state).map(({ content }) => content),
  }),
);
await toolkit.close();
