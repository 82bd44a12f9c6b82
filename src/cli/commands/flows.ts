import { randomUUID } from "node:crypto";
import {
  findRefusal,
  findWaitingApproval,
  isOverdue,
  mayHaveActed,
  watchFlow,
} from "../../plugin/calls/flows/read-flow.ts";
import { cleanText, type ToolOutcome } from "../../plugin/calls/outcome.ts";
import { createToolSession } from "../../plugin/calls/session.ts";
import type { SvcClient } from "../../plugin/client/client.ts";
import { sleepFor } from "../../plugin/client/retry.ts";
import { createTerminalApprover } from "../../plugin/runtimes/terminal/approve-in-terminal.ts";
import { isSvcError, SvcError } from "../../shared/errors.ts";
import type { FlowView } from "../../shared/wire/flow.ts";
import type { CliContext } from "../context.ts";
import { EXIT, exitCodeForOutcome } from "../exit-codes.ts";
import { createFlowScreen, formatFlowList, formatTemplates } from "../flow-screen.ts";
import { withClient } from "../open-session.ts";
import { jsonObject, wholeNumber } from "../settings.ts";
import { readHint, wrapWords } from "../terminal.ts";

const MISSING_HINT = '"svc flows list" shows the flows, "svc flows templates" what can be started.';

interface FlowFlags {
  readonly baseUrl?: string;
}

/** `svc flows templates`: the templates that can be started. */
export function flowTemplates(context: CliContext, flags: FlowFlags): Promise<number> {
  return withFlows(context, flags, async (client) => {
    const { templates } = await client.listFlowTemplates({ signal: context.signal });
    context.terminal.answer(templates, () => formatTemplates(context.terminal, templates));
    return EXIT.ok;
  });
}

/** `svc flows list`: the latest flows. */
export function listFlows(context: CliContext, flags: FlowFlags & { readonly limit: string }): Promise<number> {
  return withFlows(context, flags, async (client) => {
    const limit = wholeNumber(flags.limit, "--limit", 1, 100);
    const { flows } = await client.listFlows({ limit }, { signal: context.signal });
    const latest = flows.slice(0, limit);
    context.terminal.answer(latest, () => formatFlowList(latest));
    return EXIT.ok;
  });
}

const EXAMPLE = '{"notionParent":"Tasks"}';

/** `svc flows start`: starts a flow and watches it. */
export function startFlow(
  context: CliContext,
  template: string,
  flags: FlowFlags & { readonly input: string; readonly detach?: true },
): Promise<number> {
  return withFlows(context, flags, async (client) => {
    const body = {
      flowTemplate: template,
      input: await jsonObject({ text: flags.input, flag: "--input", example: EXAMPLE }, context.input),
      triggerType: "manual" as const,
    };
    const start = () => client.startFlow(body, { signal: context.signal }).catch(explainInput);
    const started = await change(context, "svc flows list", start);
    if (started === undefined) return EXIT.unknownOutcome;
    const { flowId, flow } = started;
    if (flags.detach === true) {
      context.terminal.answer(flow, () => `Started ${flowId}. Next: svc flows watch ${flowId}`);
      return EXIT.ok;
    }
    return showUntilRest(context, client, flowId);
  });
}

/** `svc flows watch`: shows the steps until the flow ends or needs a human. */
export function watch(context: CliContext, id: string, flags: FlowFlags): Promise<number> {
  return withFlows(context, flags, (client) => showUntilRest(context, client, id));
}

/** `svc flows approve`: shows the flow's next steps, asks, and watches it continue. */
export function approve(
  context: CliContext,
  id: string,
  flags: FlowFlags & { readonly step?: string },
): Promise<number> {
  return withFlows(context, flags, async (client) => {
    const { terminal, places, signal } = context;
    // The line of a prompt is not to be drawn over.
    terminal.endProgress();
    const approver = createTerminalApprover({ input: context.input, output: context.output });
    const session = await createToolSession({ client, approve: approver, stateDir: places.state });
    try {
      const args = { flow_id: id, wait_seconds: 0, ...(flags.step === undefined ? {} : { step: flags.step }) };
      const tool = session.flowTools.find(({ name }) => name === "svc_approve_flow");
      const outcome = await tool?.run(args, { callId: randomUUID(), signal });
      if (outcome?.status === "succeeded") return await showUntilRest(context, client, id);
      const isRefused = outcome?.status === "declined" || outcome?.status === "needs_approval";
      const text = `${outcome?.message ?? ""} ${isRefused ? "" : adviseHuman(outcome, id)}`.trim();
      terminal.answer(outcome, () => text);
      return outcome === undefined ? EXIT.failed : exitCodeForOutcome(outcome);
    } finally {
      approver.close();
      await session.close();
    }
  });
}

/** Hints are written for a model; the person at the terminal has other commands. */
function adviseHuman(outcome: ToolOutcome | undefined, id: string): string {
  if (outcome?.code === "flow_not_found") return MISSING_HINT;
  if (outcome?.hint?.includes("svc_get_flow") !== true) return readHint(outcome?.hint) ?? "";
  return `Next: svc flows watch ${id}${outcome.status === "unknown" ? ", before you approve it again" : ""}`;
}

/** `svc flows resume`: retries a failed flow. */
export function resume(context: CliContext, id: string, flags: FlowFlags): Promise<number> {
  return withFlows(context, flags, async (client) => {
    const send = () => client.resumeFlow(id, { signal: context.signal });
    const resumed = await change(context, `svc flows watch ${id}`, send);
    return resumed === undefined ? EXIT.unknownOutcome : showUntilRest(context, client, id);
  });
}

/** `svc flows cancel`: ends a flow. */
export function cancel(context: CliContext, id: string, flags: FlowFlags): Promise<number> {
  return withFlows(context, flags, async (client) => {
    const send = () => client.cancelFlow(id, { signal: context.signal });
    const view = await change(context, `svc flows watch ${id}`, send);
    if (view === undefined) return EXIT.unknownOutcome;
    context.terminal.answer(view, () => `The flow is ${view.flow.status}. What it did stays done.`);
    return EXIT.ok;
  });
}

/** The answer to a change. Undefined if none came: then prints that the change may have been made and where to look. */
async function change<T>(
  { terminal, signal }: CliContext,
  look: string,
  send: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await send();
  } catch (error) {
    if (signal.aborted || !isSvcError(error) || !mayHaveActed(error)) throw error;
    const { code, message } = error;
    const text = `It is not known whether this was done. ${message} Next: "${look}", before you repeat it.`;
    terminal.answer({ status: "unknown", code, message }, () => wrapWords(text, terminal.columns, "  "));
    return undefined;
  }
}

async function withFlows(
  context: CliContext,
  flags: FlowFlags,
  work: (client: SvcClient) => Promise<number>,
): Promise<number> {
  try {
    return await withClient(context, flags, ({ client }) => work(client));
  } catch (cause) {
    if (!isSvcError(cause) || cause.code !== "service_failure" || cause.status !== 404) throw cause;
    throw new SvcError(cause.code, "The service knows none of that name.", { status: 404, hint: MISSING_HINT, cause });
  }
}

/** Adds the flag: the service names the problem with the template or its inputs, but not the flag. */
function explainInput(error: unknown): never {
  if (!isSvcError(error) || error.status !== 400) throw error;
  const hint = '"svc flows templates" tells what each one needs; give it as --input \'{"name":"value"}\'.';
  throw new SvcError(error.code, error.message, { status: 400, hint, cause: error });
}

async function showUntilRest(context: CliContext, client: SvcClient, id: string): Promise<number> {
  const { terminal, output, signal } = context;
  const show = createFlowScreen(terminal, output);
  let last: FlowView | undefined;
  for await (const view of watchFlow(client, id, { signal, sleep: sleepFor })) {
    show(view);
    last = view;
  }
  if (last === undefined) return EXIT.failed;
  const { status } = last.flow;
  if (terminal.json) terminal.answer(last, () => "");
  else terminal.say(adviseNext(last));
  return status === "failed" || status === "cancelled" ? EXIT.failed : EXIT.ok;
}

function adviseNext(view: FlowView): string {
  const { id, status } = view.flow;
  if (findWaitingApproval(view) !== undefined) return `\nIt waits for you. Next: svc flows approve ${id}`;
  if (status === "failed") return `\nIt failed. Next: svc flows resume ${id}, or svc flows cancel ${id}`;
  if (isOverdue(view, Date.now())) return `\nThe time it waited for is over. Next: svc flows resume ${id}`;
  const declined = findRefusal(view);
  if (declined !== undefined) {
    return `\nDeclined by ${cleanText(declined.by, 80)}. ${declined.reason ? `Reason: ${cleanText(declined.reason, 500)}` : "No reason was given."}`;
  }
  return `\nThe flow is ${status}.`;
}
