import Markdown from "react-markdown";
import rehypeRaw from "rehype-raw";
import remarkGfm from "remark-gfm";
import { expect } from "vitest";
import { createApprovalCard } from "../../../src/plugin/calls/ask/card.ts";
import type { ApprovalRequest } from "../../../src/plugin/calls/ask/request.ts";
import { createApprovalQuestion } from "../../../src/plugin/runtimes/langchain/human-channel.ts";
import { createInterruptPayload } from "../../../src/plugin/runtimes/langchain/interrupt-payload.ts";
import { createHumanChannel } from "../../../src/plugin/runtimes/mcp/human-channel.ts";
import { OpenCall } from "../../../src/plugin/runtimes/mcp/open-call.ts";
import { APPROVAL, askApproval } from "../../../src/service/mcp/tools/execution-tools.ts";
import { createOpenApp } from "../../hostile/model/open-app.ts";
import { type ShownAction, showInChatUi, showInInbox } from "../../plugin/runtimes/langchain/interfaces.ts";
import { type CardPlace, readRows, type ShownCard } from "./card-place.ts";
import { readElement } from "./read-html.ts";

/** A card whose rows are all there is to see. */
export function showRows(rows: readonly string[], readRest: ShownCard["readRest"]): ShownCard {
  return { rows, read: () => readRows(rows), readRest };
}

/** Text as renderers of Markdown show it, raw HTML in it included. */
function renderMarkdown(text: string): string[] {
  return readElement(Markdown({ children: text, remarkPlugins: [remarkGfm], rehypePlugins: [rehypeRaw] })).split("\n");
}

/** A program that prints `createApprovalCard`, of which it can ask for more rows. */
const LIBRARY: CardPlace = {
  name: "createApprovalCard",
  show: (request) =>
    showRows(createApprovalCard(request), () =>
      readRows(createApprovalCard(request, { maxRows: Number.POSITIVE_INFINITY })),
    ),
};

/** An interface of LangGraph: the description as Markdown, and the arguments beside it, where the interface has them. */
function createInterface(name: string, look: (value: unknown) => ShownAction[] | string): CardPlace {
  return {
    name,
    show(request) {
      const shown = look(createInterruptPayload([createApprovalQuestion(request)]));
      const [action] = typeof shown === "string" ? [] : shown;
      if (action === undefined) return expect.fail(String(shown));
      return showRows(renderMarkdown(String(action.description)), () => request.arguments);
    },
  };
}

async function readLocalForm(request: ApprovalRequest): Promise<string> {
  const { signal } = new AbortController();
  const call = new OpenCall({ asked: "", can: { form: true, url: false, page: false }, now: () => 0 }, async (open) => {
    await createHumanChannel(open, 0).approve?.(request, { signal });
    return expect.fail("Nobody answers.");
  });
  const turn = await call.next();
  return readMessage(turn.kind === "question" ? turn.request.params : undefined);
}

const { integration } = createOpenApp();
const action = integration.actions.find(({ id }) => id === "change") ?? expect.fail();

function readServiceForm({ arguments: input }: ApprovalRequest): string {
  const entry = { toolName: "open_change", integration, action };
  return readMessage(askApproval({ entry, input, account: "First" })[APPROVAL]?.params);
}

function readMessage(params: unknown): string {
  return String((params as { message?: unknown } | undefined)?.message);
}

/** A form has nothing beside its message: what is not in it cannot be seen. */
function createForm(name: string, read: (request: ApprovalRequest) => string | Promise<string>): CardPlace[] {
  const nowhere = () => expect.fail("A form shows nothing else.");
  return [
    { name: `${name}, as it is`, show: async (request) => showRows((await read(request)).split("\n"), nowhere) },
    { name: `${name}, as Markdown`, show: async (request) => showRows(renderMarkdown(await read(request)), nowhere) },
  ];
}

/** Places that are drawn from a request alone. */
export const DRAWN_PLACES: readonly CardPlace[] = [
  LIBRARY,
  createInterface("agent-chat-ui", showInChatUi),
  createInterface("agent-inbox", showInInbox),
  ...createForm("the form of svc mcp", readLocalForm),
  ...createForm("the form of /api/mcp", readServiceForm),
];
