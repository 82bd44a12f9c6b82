import { setTimeout as delay } from "node:timers/promises";
import { SvcToolkit } from "../../../../src/langchain.ts";
import { ADAPTERS, resume } from "./adapters.ts";
import { ask, config, note, script } from "./agent-kit.ts";
import { FileSaver } from "./file-saver.ts";

/** An agent in a process that is going to be killed; prints where it is and waits there. */

const [name = "", baseUrl = "", apiKey = "", file = "", stateDir = "", at = ""] = process.argv.slice(2);

const toolkit = await SvcToolkit.create({
  baseUrl,
  apiKey,
  idempotencyKeys: at === "sending" ? "when_known" : "off",
  ...(stateDir === "" ? {} : { stateDir }),
  integrations: ["notes", "drive"],
  onEvent: (event) => {
    if (event.type !== at) return;
    console.log(`at ${at}`);
    // Nothing after this line happens: the graph never hears of the result, or the service never of the call.
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
  },
});
const adapter = ADAPTERS.find((candidate) => candidate.name === name);
if (adapter === undefined) throw new Error(`No adapter ${name}`);
const agent = await adapter.start({ toolkit, model: script([note("w1")]), checkpointer: new FileSaver(file) });
await agent.invoke(ask, config);
if (at === "asked") {
  console.log("at asked");
  await delay(60_000);
}
await agent.invoke(resume({ decisions: [{ type: "approve" }] }), config);
