import { applySync } from "../actions/apply-sync.ts";
import { showStatus } from "../doctor/diagnose.ts";
import type { HostApi, HostCommandContext } from "../host/host-api.ts";
import type { SvcHost } from "../svc-host.ts";
import { answer, answerError, type CommandAnswer, refuse } from "./command-answer.ts";
import { runDecisionCommand } from "./decision-commands.ts";
import { unpair } from "./pair-command.ts";
import { preparePlan } from "./sync-command.ts";

/** A chat command as the host delivers it. */
export interface SlashCall {
  readonly host: SvcHost;
  readonly api: HostApi;
  readonly context: HostCommandContext;
}

const HELP = [
  "/svc status: is everything well, and if not, why",
  "/svc pair: how to connect this OpenClaw to your apps",
  "/svc sync: give each action of your apps a tool of its own",
  "/svc unpair: forget the key and take the tools away",
  "/svc pending: calls that wait for you",
  "/svc show CODE: everything about one call",
  "/svc approve CODE: let it through once (approve CODE always: and every later one of this tool and account)",
  "/svc decline CODE: do not",
  "/svc rules: what is always allowed; /svc rules revoke ID takes it back",
].join("\n");

/** More lines of one kind than a chat can show; the command line shows them all. */
const MOST_LINES = 30;

/** Runs `/svc …`. For owners of the gateway only: any other sender is told so and nothing happens. */
export async function runSlashCommand(call: SlashCall): Promise<{ readonly text: string }> {
  if (!mayDecide(call.context)) return { text: "Only an owner of this OpenClaw may use /svc." };
  const { text } = await run(call).catch(answerError);
  return { text };
}

async function run(call: SlashCall): Promise<CommandAnswer> {
  const { host, context } = call;
  const words = (context.args ?? "").split(/\s+/).filter((word) => word !== "");
  switch (words[0]) {
    case undefined:
    case "help":
      return answer(HELP, null);
    case "status":
    case "doctor":
      return showStatus(host, { config: context.config, sessionKey: context.sessionKey, isShort: true });
    case "pair":
      return answer("Send /login svc: it shows a link and a code, and waits until you have approved.", null);
    case "sync":
      return runSync(call, words.slice(1));
    case "unpair":
      return runUnpair(call, words[1]);
    default:
      return (await runDecisionCommand(host, words)) ?? refuse(`There is no /svc ${words[0]}.\n${HELP}`);
  }
}

async function runSync({ host, api, context }: SlashCall, [verb, hash]: readonly string[]): Promise<CommandAnswer> {
  if (verb !== undefined && verb !== "apply") return refuse("Write /svc sync, and then what it tells you.");
  const shown = await preparePlan(host, MOST_LINES);
  const next = `Apply exactly this: /svc sync apply ${shown.hash}`;
  if (verb === undefined) return answer(shown.isEmpty ? shown.text : `${shown.text}\n${next}`, shown.data);
  if (!mayConfigure(context)) return refuse("Only an administrator of this OpenClaw may change its tools.");
  if (hash !== shown.hash) return refuse(`That is not what would be applied now:\n${shown.text}\n${next}`);
  context.assertOwnerCurrent?.();
  const applied = await applySync(host, api, shown.plan);
  return answer(applied.next, shown.data);
}

async function runUnpair({ host, api, context }: SlashCall, confirmation: string | undefined): Promise<CommandAnswer> {
  if (!mayConfigure(context)) return refuse("Only an administrator of this OpenClaw may unpair it.");
  if (confirmation !== "yes") {
    return answer("This forgets the key and takes every action tool away. Go on with: /svc unpair yes", null);
  }
  context.assertOwnerCurrent?.();
  return unpair(host, api, context.config);
}

/** A client of the gateway needs the right to approve; in a channel the host must say that the sender is an owner. */
function mayDecide({ gatewayClientScopes: scopes, senderIsOwner }: HostCommandContext): boolean {
  if (scopes === undefined) return senderIsOwner === true;
  return scopes.includes("operator.approvals") || scopes.includes("operator.admin");
}

function mayConfigure({ gatewayClientScopes: scopes, senderIsOwner }: HostCommandContext): boolean {
  return scopes === undefined ? senderIsOwner === true : scopes.includes("operator.admin");
}
