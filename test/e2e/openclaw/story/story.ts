import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtInIntegrations } from "../../../../src/apps/built-in.ts";
import { deliverSampleMail } from "../../../../src/cli/demo/sample-content.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { hasNodes, NODES } from "../../../consumers/consumer.ts";
import { createManyApp, type ManyApp } from "../../../plugin/runtimes/openclaw/many-actions.ts";
import { findFreePort } from "../../../service/free-port.ts";
import { type Invocation, invokeTool } from "../host/invoke-tool.ts";
import { createState, type HostState } from "../host/isolated-state.ts";
import { connectOperator, type Operator } from "../host/operator.ts";
import { type ScriptedModel, startScriptedModel } from "../host/scripted-model.ts";
import { configurePlugin, installPlugin, PAIR_LINK } from "../host/set-up-plugin.ts";
import { type Gateway, startGateway } from "../host/start-gateway.ts";
import { throughReload } from "../host/through-reload.ts";
import { getProvided } from "../host/use-host.ts";

/** A new user's host from the installation on, and the service that it will be paired with. */
export interface Story {
  readonly model: ScriptedModel;
  readonly state: HostState;
  /** Of the service: an app that gets one more action when it `grow`s. */
  readonly small: ManyApp;
  readonly grown: ManyApp;
  service: TestService;
  gateway: Gateway;
  operator: Operator;
  /** Sends a message to the agent; its last words. */
  say(message: string, sessionKey?: string): Promise<string>;
  /** Calls a tool over HTTP. */
  invoke(tool: string, args?: object): Promise<Invocation>;
  /** `/login svc`, with what the owner does on the approval page; the chat's last word. */
  login(decision: "approve" | "decline"): Promise<string>;
  /** `/svc sync` and the command it names; what it has shown before. */
  sync(): Promise<string>;
  /** Stops the gateway and starts it again. */
  restart(): Promise<void>;
  /** Starts the service again with one more action. */
  grow(): Promise<void>;
  close(): Promise<void>;
}

const LOOK = { id: "look" };
const CHANGE = { id: "change", level: "write", requiresConfirmation: true } as const;

/** An API key of the service. */
export const KEY = /svc_live_[\w-]{8,}/;

/** The other Node that the host admits, where it is installed; all other files run it under the Node of the tests. */
const NODE = hasNodes() ? NODES["26"] : undefined;
/** Where the host runs, in words. */
export const WHERE = NODE === undefined ? "under the Node of the tests" : "under Node 26";

/** Installs the packed plugin in a host with two agents, and starts the gateway. */
export async function openStory(): Promise<Story> {
  const small = createManyApp("app", [LOOK, CHANGE]);
  const grown = createManyApp("app", [LOOK, CHANGE, { id: "more" }]);
  const port = await findFreePort();
  const dataDir = await mkdtemp(join(tmpdir(), "svc-story-"));
  const startService = ({ integration }: ManyApp) =>
    startTestService({ dataDir, port, integrations: [...builtInIntegrations, integration] });
  const service = await startService(small);
  await service.service.connections.add({ integration: "app", label: "App", settings: {}, scopes: [] });
  await deliverSampleMail(join(dataDir, "mail"));
  const model = await startScriptedModel();
  const node = NODE === undefined ? {} : { node: NODE };
  const state = await createState({ modelUrl: model.url, hasTwoAgents: true, ...node });
  await installPlugin(state, getProvided().tarball);
  await configurePlugin(state, { baseUrl: service.url });
  const gateway = await startGateway(state);
  const operator = await connectOperator(gateway, state);
  const story: Story = {
    ...{ model, state, small, grown, service, gateway, operator },
    say: async (message, sessionKey = "owner") => (await story.operator.chat(message, { sessionKey })).done,
    invoke: (tool, args) => invokeTool(story.gateway, state, tool, args),
    async login(decision) {
      const turn = await story.operator.chat("/login svc", { sessionKey: "owner" });
      const shown = await story.operator.take(
        "chat",
        (payload) => payload.runId === turn.runId && PAIR_LINK.test(JSON.stringify(payload)),
      );
      await story.service.decide(PAIR_LINK.exec(JSON.stringify(shown))?.[0] ?? "", decision);
      return turn.done;
    },
    async sync() {
      const shown = await story.say("/svc sync");
      const apply = shown.match(/\/svc sync apply \w+$/)?.[0] ?? "";
      const said = await throughReload(state, () => story.say(apply));
      if (!said.includes("offers the tools")) throw new Error(said);
      return shown;
    },
    async restart() {
      await story.operator.close();
      await story.gateway.stop();
      story.gateway = await startGateway(state);
      story.operator = await connectOperator(story.gateway, state);
    },
    async grow() {
      await story.service.close();
      story.service = await startService(grown);
    },
    async close() {
      await story.operator.close();
      await story.gateway.stop();
      await model.close();
      await story.service.close();
      await state.remove();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
  return story;
}

/** What the host has logged. */
export function readLog({ folder }: Pick<HostState, "folder">): Promise<string> {
  return readFile(join(folder, "openclaw.log"), "utf8");
}
