import type { ToolOutcome } from "../../../../src/plugin/calls/outcome.ts";
import type { HostCard } from "../../../../src/plugin/runtimes/openclaw/ask/approval-card.ts";
import type { AskState } from "../../../../src/plugin/runtimes/openclaw/ask/ask-state.ts";
import { createCallId, nameCall } from "../../../../src/plugin/runtimes/openclaw/ask/decisions.ts";
import { createHumanChannel, type HumanChannel } from "../../../../src/plugin/runtimes/openclaw/ask/human-channel.ts";
import { judgeCall } from "../../../../src/plugin/runtimes/openclaw/ask/judge-call.ts";
import type {
  HostApproval,
  HostApprovalResolution,
  HostToolCallContext,
  HostToolContext,
} from "../../../../src/plugin/runtimes/openclaw/host/host-tool.ts";
import type { SdkModule } from "../../../../src/plugin/runtimes/openclaw/host/load-sdk.ts";
import { readEnvironment } from "../../../../src/plugin/runtimes/openclaw/setup/read-environment.ts";
import { type SvcHost, shareHost } from "../../../../src/plugin/runtimes/openclaw/svc-host.ts";
import { type ProbeService, startProbeService } from "../../../contract/probe-service.ts";
import { createFakeApi, createStateFolder, type Recorded } from "./fake-api.ts";

/** What the person at the host says to a card. `nobody`: no approval client is connected. */
type CardAnswer = "allow-once" | "allow-always" | "deny" | "timeout" | "nobody";

/** One call of `svc_call_tool`, as the host makes it. */
interface PlayedCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly connectionId?: string;
  readonly callId?: string;
  /** Default: a run a chat has started. Undefined: a request over HTTP. */
  readonly runId?: string | undefined;
  readonly requester?: HostToolCallContext["requester"];
  readonly context?: HostToolContext;
  /** Between the card and the call. */
  readonly before?: () => void | Promise<void>;
}

/** What came of a call, for the model. */
type PlayedResult =
  | { readonly blocked: true; readonly reason: string }
  | { readonly blocked: false; readonly outcome: ToolOutcome };

/** A paired plugin in a host that is played, against the real service. */
export interface ApprovalKit {
  readonly service: ProbeService;
  readonly host: SvcHost & AskState;
  readonly recorded: Recorded;
  /** Cards shown before a call and within one, in order. */
  readonly cards: HostApproval[];
  /** Questions asked within calls, as the host got them. */
  readonly questions: Record<string, unknown>[];
  /** Answers to the next cards; without one a card is not answered in time. */
  readonly answers: CardAnswer[];
  /** What the host's question function gives back. */
  answerQuestion: (asked: Record<string, unknown>) => unknown;
  play(call: PlayedCall): Promise<PlayedResult>;
  close(): Promise<void>;
}

/** Another service, and another human, than the kit's own. */
interface OtherParts {
  readonly service: Pick<ProbeService, "url" | "apiKey">;
  readonly mediaRoots: readonly string[];
  /** The host's own folder, which outlives the kit. */
  readonly stateDir: string;
  readonly ask: (card: HostApproval) => Promise<CardAnswer>;
}

/** Opens the kit. */
export async function openApprovalKit(other?: OtherParts): Promise<ApprovalKit> {
  const service =
    other === undefined
      ? await startProbeService()
      : // Tests that bring their own service use no more of it here.
        ({ ...other.service, close: async () => undefined } as unknown as ProbeService);
  const folder =
    other === undefined
      ? createStateFolder()
      : { environment: readEnvironment({ OPENCLAW_STATE_DIR: other.stateDir }), remove: () => undefined };
  const { url: baseUrl, apiKey } = service;
  const { mediaRoots } = other ?? {};
  const { api, recorded } = createFakeApi({ pluginConfig: { baseUrl, apiKey, ...(mediaRoots && { mediaRoots }) } });
  const shared = shareHost(api, folder.environment);
  const host = { ...shared, ...(await shared.openAskState()) };
  const cards: HostApproval[] = [];
  const questions: Record<string, unknown>[] = [];
  const answers: CardAnswer[] = [];
  const show = async (approval: HostApproval) => {
    cards.push(approval);
    const answer = (await other?.ask(approval)) ?? answers.shift() ?? "timeout";
    await approval.onResolution?.(RESOLUTION[answer]);
    return answer;
  };
  const kit: ApprovalKit = {
    service,
    host,
    recorded,
    cards,
    questions,
    answers,
    answerQuestion: () => ({ status: "expired" }),
    play: (call) => playCall(kit, call, show),
    async close() {
      await host.close();
      await service.close();
      folder.remove();
    },
  };
  return kit;
}

const RESOLUTION: Readonly<Record<CardAnswer, HostApprovalResolution>> = {
  "allow-once": "allow-once",
  "allow-always": "allow-always",
  deny: "deny",
  timeout: "timeout",
  nobody: "cancelled",
};

const SESSION = { agentId: "main", sessionKey: "agent:main:main", sessionId: "s1" };
let count = 0;

const pickSession = ({ sessionKey }: HostToolContext = {}) => (sessionKey === undefined ? {} : { sessionKey });

async function playCall(
  kit: ApprovalKit,
  call: PlayedCall,
  show: (approval: HostApproval) => Promise<CardAnswer>,
): Promise<PlayedResult> {
  const { tool, args, connectionId, requester = { channel: "webchat", senderId: "gateway-client" } } = call;
  count += 1;
  const callId = call.callId ?? `call_${count}`;
  const runId = "runId" in call ? call.runId : `run_${count}`;
  const params = { name: tool, arguments: args, ...(connectionId === undefined ? {} : { connectionId }) };
  const verdict = await judgeCall(
    kit.host,
    { toolName: "svc_call_tool", params, toolCallId: callId, runId },
    { toolName: "svc_call_tool", ...SESSION, ...pickSession(call.context), requester },
  );
  if (verdict?.block === true) return { blocked: true, reason: verdict.blockReason ?? "" };
  if (verdict?.requireApproval !== undefined) {
    const answer = await show(verdict.requireApproval);
    if (answer === "timeout") return { blocked: true, reason: verdict.requireApproval.timeoutReason ?? "" };
    if (answer === "deny" || answer === "nobody") return { blocked: true, reason: answer };
  }
  await call.before?.();
  const context = { ...SESSION, messageChannel: "webchat", ...call.context };
  const channel = createHumanChannel(kit.host, context, callId, { loadSdk: async () => playSdk(kit, show) });
  return { blocked: false, outcome: await execute(kit.host, context, channel, { callId, params }) };
}

async function execute(
  host: SvcHost & AskState,
  context: HostToolContext,
  { explain, ...channel }: HumanChannel,
  { callId, params }: { callId: string; params: object },
): Promise<ToolOutcome> {
  const account = await host.openAccount(context);
  const tool = account.tools.get("svc_call_tool");
  if (tool === undefined) throw new Error("svc_call_tool is missing");
  const name = nameCall(context, callId);
  const run = host.decisions.findRun(name);
  const place = host.decisions.takePlace(name);
  return explain(await tool.run(params, { callId: createCallId(context, callId, run), ...place, ...channel }));
}

/** The two functions of the host's SDK, with the host's own answers. */
function playSdk(kit: ApprovalKit, show: (approval: HostApproval) => Promise<CardAnswer>): SdkModule {
  return {
    async requestDeferredPluginToolApproval({ deferredApproval }: { deferredApproval: { approval: HostApproval } }) {
      const answer = await show(deferredApproval.approval);
      const isOffered = deferredApproval.approval.allowedDecisions?.some((decision) => decision === answer);
      return isOffered === true && answer !== "deny" ? { blocked: false } : { blocked: true, reason: answer };
    },
    async runAgentHarnessGatewayQuestion(asked: Record<string, unknown>) {
      kit.questions.push(asked);
      return kit.answerQuestion(asked);
    },
  };
}

/** A card's text. */
export function readCard({ title, description }: Pick<HostCard, "title" | "description">): string {
  return `${title}\n${description}`;
}
