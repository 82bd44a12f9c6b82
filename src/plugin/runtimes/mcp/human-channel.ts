import { inputRequired } from "@modelcontextprotocol/server";
import { isRecord } from "../../../shared/base/json.ts";
import { toPlainText } from "../../../shared/card/plain-text.ts";
import { readFormAnswer } from "../../../shared/wire/form-answer.ts";
import { showsApps } from "../../../shared/wire/mcp-app.ts";
import { createApprovalCard } from "../../calls/ask/card.ts";
import type { ApprovalDecision, ApprovalRequest } from "../../calls/ask/request.ts";
import type { ConnectionQuestion, ConnectLink, HumanChannel } from "../../calls/pipeline.ts";
import type { FormAnswer, OpenCall, Showing } from "./open-call.ts";

/** What a client can show its human, by its capabilities. An empty `elicitation` means forms only. */
export function readShowing(capabilities: unknown): Showing {
  const elicitation = isRecord(capabilities) ? capabilities.elicitation : undefined;
  const page = showsApps(capabilities);
  if (!isRecord(elicitation)) return { form: false, url: false, page };
  const url = isRecord(elicitation.url);
  return { form: isRecord(elicitation.form) || !url, url, page };
}

/** Width of the card in characters: clients show forms in narrow windows. */
const COLUMNS = 64;
const APPROVAL_FORM = {
  type: "object",
  properties: {
    approve: { type: "boolean", title: "Approve", description: "Run exactly this call, once.", default: false },
    reason: { type: "string", title: "Reason", description: "For the agent, when you do not approve." },
  },
  required: ["approve"],
} as const;

/**
 * The human behind the client. Questions that the client cannot show are left out: such calls end with an outcome that says so.
 * `waitMs`: how long a call waits after a link was opened.
 */
export function createHumanChannel(call: OpenCall, waitMs: number): HumanChannel {
  const { can } = call;
  return {
    ...(can.form && {
      approve: async (request, { signal }) => decide(request, await call.ask(askApproval(request), signal)),
      chooseConnection: async (question, { signal }) =>
        readChoice(question, await call.ask(askAccount(question), signal)),
    }),
    ...(can.url && {
      presentConnectLink: async (link, { signal }) => {
        const { action } = await call.ask(showLink(describeLink(link), link.url), signal);
        if (action !== "accept") return false;
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, waitMs);
          signal.addEventListener("abort", () => [clearTimeout(timer), resolve()], { once: true });
        });
        return "connected";
      },
    }),
  };
}

/** A link for the human to open. */
export function showLink(message: string, url: string) {
  return inputRequired.elicitUrl({ message, url });
}

function askApproval(request: ApprovalRequest) {
  const options = { columns: COLUMNS, maxRows: Number.POSITIVE_INFINITY, isMarkdown: true };
  return inputRequired.elicit({
    message: createApprovalCard(request, options).join("\n"),
    requestedSchema: { ...APPROVAL_FORM, required: [...APPROVAL_FORM.required] },
  });
}

/** Throws when the client answered without its human: then nobody has decided. */
function decide({ id, fingerprint }: ApprovalRequest, answer: FormAnswer): ApprovalDecision {
  const { action, content, tookMs } = answer;
  const verdict = readFormAnswer(answer, tookMs);
  if (verdict === "nobody") throw new Error("The client answered the form without showing it.");
  if (verdict === "approved") return { type: "approve", id, fingerprint };
  const reason = action === "cancel" ? "The form was closed without an answer." : content?.reason;
  return { type: "decline", id, fingerprint, message: typeof reason === "string" ? reason : undefined };
}

/** Labels of accounts come from the service: each is shown with its id, and the answer is the id. */
function askAccount({ integration, choices, toolName }: ConnectionQuestion) {
  const name = (text: string) => toPlainText(text, { max: 80 });
  const oneOf = choices.map(({ id, label }) => ({ const: id, title: `${name(label)} (${name(id)})` }));
  return inputRequired.elicit({
    message: `Which ${name(integration)} account is used for ${name(toolName)}?`,
    requestedSchema: {
      type: "object",
      properties: { account: { type: "string", title: "Account", oneOf } },
      required: ["account"],
    },
  });
}

function readChoice({ choices }: ConnectionQuestion, { action, content }: FormAnswer): string | undefined {
  return action === "accept" ? choices.find(({ id }) => id === content?.account)?.id : undefined;
}

function describeLink({ integration, isReconnect }: ConnectLink): string {
  const app = toPlainText(integration, { max: 80 });
  const what = isReconnect ? `The sign-in to ${app} has expired.` : `${app} is not connected.`;
  return `${what} Open the page of your svc service, finish there, and the call goes on.`;
}
