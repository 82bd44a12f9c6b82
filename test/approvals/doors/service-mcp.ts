import { setTimeout } from "node:timers/promises";
import { callTool } from "../../service/mcp/mcp-calls.ts";
import { type Answer, type Door, HOLDS_CALLS, keep, type ModelCall, readKept, type Turn } from "../door.ts";
import { answerInInbox, openOwnerBrowser } from "./owner-browser.ts";

/** A message that a client sends to the endpoint, and the held call that came of it. */
interface Held {
  readonly message: object;
  readonly id: string;
}

interface Summary {
  readonly status: string;
  readonly approval?: { readonly id: string; readonly status: string };
}

/** A model confirms all that it asks for. */
function toMessage({ name, args }: ModelCall): object {
  const [, app = "", action = ""] = /^([a-z]+)_(.+)$/.exec(name) ?? [];
  return { integration_id: app, action_id: action, input: args, confirm: true };
}

/** `/api/mcp` of the service: nothing that a model sends confirms, so the owner decides in the inbox. */
export const SERVICE_MCP: Door = {
  name: "/api/mcp",
  ...HOLDS_CALLS,
  canEdit: true,
  hasModel: false,
  outlives: true,
  cannot: {
    ...HOLDS_CALLS.cannot,
    "10,000 records later": "The service drops what it keeps by age, never by number: eight days later shows that.",
    "a file that is sent": "The endpoint takes no local file.",
    "a killed process": "Its question is kept by the service: test/faults kills that.",
  },
  async open(host) {
    const target = { url: host.baseUrl, apiKey: host.apiKey };
    const owner = await openOwnerBrowser(host);
    const names = new Map<string, string>();
    const send = async (tool: string, args: object): Promise<Summary> =>
      (await callTool(target, tool, args)).structuredContent;
    const ask = async (messages: readonly object[]): Promise<Turn> => {
      const held: Held[] = [];
      const told: string[] = [];
      for (const message of messages) {
        const summary = await send("svc.execute", message);
        if (summary.approval?.status === "pending") held.push({ message, id: summary.approval.id });
        else told.push(JSON.stringify(summary));
      }
      return show(held, told);
    };
    const show = async (held: readonly Held[], told: readonly string[]): Promise<Turn> => {
      const pages = await Promise.all(held.map(({ id }) => owner.read(id)));
      for (const [index, { named }] of pages.entries()) names.set(held[index]?.id ?? "", named);
      return { saved: keep(held), questions: pages.map(({ shown }) => shown), told };
    };
    /** How a held call stands once it neither waits for its turn nor runs. */
    const follow = async (id: string): Promise<Summary> => {
      for (;;) {
        const summary = await send("svc.get_execution", { execution_id: id });
        if (!["approved", "running"].includes(summary.approval?.status ?? "")) return summary;
        await setTimeout(5);
      }
    };
    const goOn = async (held: readonly Held[]): Promise<Turn> => {
      const ended = await Promise.all(held.map(async (one) => ({ one, summary: await follow(one.id) })));
      const isOpen = ({ summary }: (typeof ended)[number]) => summary.approval?.status === "pending";
      const told = ended.filter((one) => !isOpen(one)).map(({ summary }) => JSON.stringify(summary));
      return show(
        ended.filter(isOpen).map(({ one }) => one),
        told,
      );
    };
    return {
      start: (calls) => ask(calls.map(toMessage)),
      async resume(saved, answers) {
        const held = readKept<Held[]>(saved);
        // Another browser opens the pages first; a page that was read before is not read again.
        for (const { id } of held) if (!names.has(id)) names.set(id, (await owner.read(id)).named);
        await answerInInbox(
          owner,
          held.map(({ id }, index): [string, Answer] => [names.get(id) ?? id, answers[index]]),
        );
        return goOn(held);
      },
      goOn: (saved) => goOn(readKept<Held[]>(saved)),
      goBack: (saved) => ask(readKept<Held[]>(saved).map(({ message }) => message)),
      close: async () => undefined,
    };
  },
};
