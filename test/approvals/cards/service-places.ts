import { RunContext } from "@openai/agents";
import { expect } from "vitest";
import { openAiSdkTools } from "../../../src/ai-sdk.ts";
import { createToolSession } from "../../../src/index.ts";
import { openAgentTools } from "../../../src/openai-agents.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { createOpenApp } from "../../hostile/model/open-app.ts";
import { closeLater } from "../../plugin/calls/open-test-session.ts";
import { openBrowser } from "../../service/http/pages/browser.ts";
import { readExactly } from "../../service/http/pages/read-exactly.ts";
import { call, execute } from "../../service/http-calls.ts";
import type { CardPlace } from "./card-place.ts";
import { showRows } from "./drawn-places.ts";
import { readMarkup } from "./read-html.ts";

const TOOL = "open_change";
const nowhere = () => expect.fail("This card has no other place.");

/** A service with an app that takes any arguments; every write of it is asked about. */
export async function startOpenService(approvals: "device" | "owner" = "device"): Promise<TestService> {
  const service = closeLater(await startTestService({ integrations: [createOpenApp().integration], approvals }));
  await service.service.connections.add({ integration: "open", label: "First", settings: {} });
  return service;
}

/** The cards of programs that ask now and go on later, of the AI SDK and of the OpenAI Agents SDK. */
export async function openSdkPlaces({ url: baseUrl, apiKey }: TestService): Promise<CardPlace[]> {
  const settings = { baseUrl, apiKey, allow: { integrations: ["open"] } };
  const session = closeLater(await createToolSession(settings));
  const aiSdk = closeLater(await openAiSdkTools(settings));
  const agents = closeLater(await openAgentTools(settings));
  let count = 0;
  const nextId = () => {
    count += 1;
    return `call_${count}`;
  };
  return [
    {
      name: "prepare",
      async show({ arguments: args }) {
        const prepared = await session.prepare({ callId: nextId(), toolName: TOOL, arguments: args });
        return prepared.kind === "approval" ? showRows(prepared.card, nowhere) : undefined;
      },
    },
    {
      name: "AI SDK",
      async show({ arguments: args }) {
        const asked = await aiSdk.toolApproval[TOOL]?.(args, { toolCallId: nextId(), messages: [] } as never);
        if (typeof asked !== "object" || !("reason" in asked)) return undefined;
        return showRows(String(asked.reason).split("\n"), nowhere);
      },
    },
    {
      name: "OpenAI Agents SDK",
      async show({ arguments: args }) {
        const tool = agents.tools.find(({ name }) => name === TOOL) ?? expect.fail();
        const run = new RunContext({});
        const callId = nextId();
        if (!(await tool.needsApproval(run, args as never, callId))) return undefined;
        const interruption = { rawItem: { type: "function_call", callId } };
        const state = { getInterruptions: () => [interruption], toJSON: () => ({ context: { context: run.context } }) };
        const [approval] = await agents.readApprovals(state as never);
        return showRows(approval?.card ?? expect.fail("The question has no card."), nowhere);
      },
    },
  ];
}

/** The page of a held call in the inbox, folded ends opened. */
export async function openInboxPlace(service: TestService): Promise<CardPlace> {
  const browser = openBrowser();
  await browser.open(await service.service.signInUrl());
  return {
    name: "the inbox",
    async show({ arguments: args }) {
      const id = await holdCall(service, args);
      if (id === undefined) return undefined;
      const { text } = await browser.open(`${service.url}/inbox/${id}`);
      // A key may have so many calls that wait.
      await call(`${service.url}/api/approvals/${id}/cancel`, { method: "POST", key: service.apiKey });
      const [, list = ""] = /<dl class="arguments">(.*?)<\/dl>/s.exec(text) ?? [];
      const entries = [...list.matchAll(/<dt><code>(.*?)<\/code>.*?<\/dt><dd class="value">(.*?)<\/dd>/gs)];
      const read = () =>
        Object.fromEntries(
          entries.map(([, name = "", value = ""]) => [readValue(name), readValue(value)] as [string, unknown]),
        );
      return { rows: readMarkup(list).split("\n"), read, readRest: read };
    },
  };
}

const readValue = (html: string) => readExactly(readMarkup(html.replaceAll(/<summary>.*?<\/summary>/gs, "")));

/** Has the service hold a call with these arguments; its id, undefined when it refuses the call. */
async function holdCall(service: TestService, args: Record<string, unknown>): Promise<string | undefined> {
  const { json } = await execute(service, TOOL, { arguments: args });
  return json.error.approval?.id;
}
