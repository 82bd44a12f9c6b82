import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { SvcToolkit } from "../../../src/langchain.ts";
import { type AgentState, findAdapter, resume } from "../../plugin/runtimes/langchain/adapters.ts";
import { ask, readResults, script } from "../../plugin/runtimes/langchain/agent-kit.ts";
import { FileSaver } from "../../plugin/runtimes/langchain/file-saver.ts";
import { type Answer, type Door, type Turn, toSettings } from "../door.ts";

interface Saved {
  readonly thread: string;
  /** Questions of each interrupt, by its id. */
  readonly open: Readonly<Record<string, number>>;
  readonly told: number;
}

const DAY_MS = 24 * 60 * 60_000;

function toDecision(answer: Answer | undefined) {
  if (typeof answer !== "object") return { type: answer === "approve" ? "approve" : "reject" };
  return { type: "edit", editedAction: { name: "notes_create_page", args: answer.edit } };
}

function createDoor(name: string, adapterName: string, more: Partial<Door> = {}): Door {
  return {
    name,
    canEdit: true,
    hasModel: true,
    outlives: true,
    expiresAfterMs: 7 * DAY_MS,
    cannot: {},
    hasPeer: true,
    ...more,
    async open(host) {
      const toolkit = await SvcToolkit.create(toSettings(host));
      // A file of its own for each thread: thousands are started.
      const openThread = (thread: string) => new FileSaver(join(host.stateDir, `thread-${thread}`));
      const toTurn = (state: AgentState, thread: string, before: number): Turn => {
        const interrupts = [...new Map((state.__interrupt__ ?? []).map((one) => [one.id, one])).values()];
        const requests = interrupts.map(({ value }) => value.action_requests as { description: string }[]);
        const results = readResults(state).map(({ content }) => String(content));
        const open = Object.fromEntries(interrupts.map(({ id }, index) => [id, requests[index]?.length ?? 0]));
        const saved: Saved = { thread, open, told: results.length };
        return {
          saved: JSON.stringify(saved),
          questions: requests.flat().map(({ description }) => description),
          told: results.slice(before),
        };
      };
      const start = (thread: string, ...batches: Parameters<typeof script>) =>
        findAdapter(adapterName).start({
          toolkit,
          integrations: host.apps ?? ["notes", "drive"],
          model: script(...batches),
          checkpointer: openThread(thread),
        });
      return {
        async start(calls) {
          const thread = randomUUID();
          const agent = await start(thread, [...calls]);
          return toTurn(await agent.invoke(ask, { configurable: { thread_id: thread } }), thread, 0);
        },
        async resume(saved, answers, calls = []) {
          const { thread, open, told } = JSON.parse(saved) as Saved;
          const left = [...answers];
          const values = Object.entries(open).flatMap(([id, count]) => {
            const given = left.splice(0, count).filter((answer) => answer !== undefined);
            return given.length === 0 ? [] : [[id, { decisions: given.map(toDecision) }]];
          });
          const agent = await start(thread, ...(calls.length === 0 ? [] : [[...calls]]));
          const config = { configurable: { thread_id: thread } };
          return toTurn(await agent.invoke(resume(Object.fromEntries(values)), config), thread, told);
        },
        async goOn(saved) {
          const { thread, told } = JSON.parse(saved) as Saved;
          const agent = await start(thread);
          return toTurn(await agent.invoke(null, { configurable: { thread_id: thread } }), thread, told);
        },
        async goBack(saved) {
          const { thread, told } = JSON.parse(saved) as Saved;
          const agent = await start(thread);
          let turn: Turn | undefined;
          for await (const past of agent.getStateHistory({ configurable: { thread_id: thread } })) {
            if (past.next.includes("tools")) turn = toTurn(await agent.invoke(null, past.config), thread, told);
          }
          if (turn === undefined) throw new Error("There is nothing to go back to.");
          return turn;
        },
        close: () => toolkit.close(),
      };
    },
  };
}

/** An agent of LangChain without and with the approval middleware, and a graph: what is saved is the thread's checkpoint. */
export const LANGCHAIN = createDoor("LangChain", "createAgent", { asksInTurn: true });
export const LANGCHAIN_MIDDLEWARE = createDoor(
  "LangChain with the approval middleware",
  "createAgent with the approval middleware",
);
export const TOOL_NODE = createDoor("ToolNode of LangGraph", "StateGraph with the prebuilt ToolNode", {
  asksInTurn: true,
});
