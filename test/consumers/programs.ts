import { EXPORTS } from "../package/expected-exports.ts";

/** Names every value of some doors, so that each has a type. */
function nameAll(doors: readonly string[]): string {
  return doors
    .map((door) => {
      const names = EXPORTS[door] ?? [];
      const path = JSON.stringify(`svc-agent-plugin${door.slice(1)}`);
      return `import * as ${toName(door)} from ${path};\nexport const of_${toName(door)} = [${names
        .map((name) => `${toName(door)}.${name}`)
        .join(", ")}];`;
    })
    .join("\n");
}

const toName = (door: string) => `door${door.replaceAll(/\W/g, "")}`;

/** What the README shows, in strict TypeScript, for a project without any optional peer. */
const PLAIN = `
import type { Approver, SvcClientOptions } from "svc-agent-plugin";
import { createTerminalApprover, isSvcError, openCredentialStore, pairDevice, SvcClient } from "svc-agent-plugin";
import { createService, type Service } from "svc-agent-plugin/service";
import { startTestService } from "svc-agent-plugin/testing";
import plugin from "svc-agent-plugin/openclaw";
import manifest from "svc-agent-plugin/plugin.manifest.json" with { type: "json" };

const options: SvcClientOptions = { baseUrl: "http://127.0.0.1:8790" };
export async function pair(keys: string): Promise<{ baseUrl: string; apiKey: string; approve: Approver }> {
  const client = new SvcClient(options);
  const { baseUrl, apiKey } = await pairDevice({
    client,
    credentials: openCredentialStore(keys),
    deviceLabel: "letters agent",
    onProgress: (step) => step.kind === "started" && console.log(step.pairUrl, step.displayCode),
  });
  await client.close();
  return { baseUrl, apiKey, approve: createTerminalApprover({ input: process.stdin, output: process.stdout }) };
}
export async function serve(): Promise<string[]> {
  const service: Service = await createService({ dataDir: "data", port: 0 });
  const labels = (await service.connections.list()).map(({ integration, label }) => integration + label);
  await service.close();
  return labels;
}
export const name: string = manifest.name;
export const id: string = plugin.id;
export const codeOf = (error: unknown) => (isSvcError(error) ? error.code : undefined);
export const kit = startTestService;
// @ts-expect-error an address is text
new SvcClient({ baseUrl: 1 });
// @ts-expect-error a port is a number
void createService({ dataDir: "data", port: "8790" });
// @ts-expect-error inner files cannot be imported
export type Inner = typeof import("svc-agent-plugin/dist/plugin/client/client.js");
// @ts-expect-error not even the file of a door
export type Door = typeof import("svc-agent-plugin/dist/index.js");
`;

const TOOLKIT = `
import type { StructuredTool } from "@langchain/core/tools";
import { createApprovalMiddleware, createDynamicToolsMiddleware, SvcToolkit } from "svc-agent-plugin/langchain";

export const toolkit = await SvcToolkit.create({
  baseUrl: "http://127.0.0.1:8790",
  apiKey: "svc_live_x",
  mediaRoots: ["/srv/media"],
  approve: async ({ id, fingerprint, tool, files }) => {
    console.log(tool.toUpperCase(), files.map(({ name, size }) => name + size.toFixed()));
    return { type: "approve", id, fingerprint };
  },
});
export const tools: StructuredTool[] = toolkit.getTools({ integrations: ["drive"], levels: ["read"], limit: 5 });
// @ts-expect-error not a level
toolkit.getTools({ levels: ["execute"] });
`;

const AGENT = `
import { AIMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { createAgent } from "langchain";

const model = fakeModel().respond(new AIMessage("Saved."));
export const plain = createAgent({ model, tools });
export const agent = createAgent({
  model,
  middleware: [await createDynamicToolsMiddleware(toolkit), await createApprovalMiddleware(toolkit)],
});
export const answer = await agent.invoke({ messages: [{ role: "user", content: "Keep hello.txt." }] });
// @ts-expect-error a middleware, and not just anything
export const wrong: number = await createApprovalMiddleware(toolkit);
`;

const DOORS = Object.keys(EXPORTS);

/** Doors that need a peer. */
const OF_PEERS = ["./langchain", "./ai-sdk", "./openai-agents"];

/** For a project with no optional peer: every door but theirs. */
export const WITHOUT_PEERS = PLAIN + nameAll(DOORS.filter((door) => !OF_PEERS.includes(door)));

/** For a project with `@langchain/core` alone: the toolkit; the middlewares can be named, but need `langchain`. */
export const WITH_CORE = `${TOOLKIT}export const middlewares = [createApprovalMiddleware, createDynamicToolsMiddleware];`;

/** For a project with every peer: every door, and an agent. */
export const WITH_PEERS = PLAIN + TOOLKIT + AGENT + nameAll(DOORS);
