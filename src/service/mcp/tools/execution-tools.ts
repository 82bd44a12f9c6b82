import { isRecord } from "../../../base/json.ts";
import { type CardFact, fence, IN_FENCE, layOutFacts } from "../../../card/card-layout.ts";
import { drawArguments, drawPart, drawProse, drawText } from "../../../card/card-text.ts";
import { MAX_APPROVAL_WAIT_SECONDS } from "../../../wire/approval.ts";
import { type SideEffectLevel, sideEffectLevelSchema } from "../../../wire/catalog.ts";
import { MAX_IDEMPOTENCY_KEY } from "../../../wire/constants.ts";
import { type FormVerdict, readFormAnswer } from "../../../wire/form-answer.ts";
import type { AccessView } from "../../access/access-view.ts";
import { type CatalogEntry, levelOf } from "../../catalog/catalog-entry.ts";
import { explainPolicy } from "../../catalog/describe-catalog.ts";
import { findDefaultConnection } from "../../connections/connections.ts";
import { hashInput } from "../../executions/idempotency-keys.ts";
import type { StoredExecution } from "../../executions/outcome.ts";
import { type CanonicalRequest, readCanonicalRequest } from "../../executions/read-requests.ts";
import { summariseOutcome } from "../../executions/summarise-outcome.ts";
import { ServiceError } from "../../service-error.ts";
import type { InputRequest, McpCall, McpResult, McpTool } from "../mcp-features.ts";
import { findHeldId, offerOwnerPage, readHeld, resumeHeld } from "./owner-hold.ts";
import { orRefuse, problemResult, reads, structuredResult, type ToolParts, toToolWords } from "./tool-results.ts";
import { ACTION_ID, INTEGRATION_ID, objectSchema, textSchema } from "./tool-schemas.ts";

/** `svc.execute` and `svc.get_execution`. */
export function createExecutionTools(parts: ToolParts): McpTool[] {
  return [
    {
      name: "svc.execute",
      description:
        "Runs one action of a connected app. Read its input schema with svc.get_action first. What changes something runs only after a human approved it, in a form or in the owner's inbox.",
      inputSchema: EXECUTE_INPUT,
      annotations: {
        title: "Run an action",
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: false,
        openWorldHint: true,
      },
      call: (args, call) => orRefuse(() => execute(parts, readCanonicalRequest(args), call)),
    },
    {
      name: "svc.get_execution",
      description: "Shows an execution or a call that waits for the owner, with its output.",
      inputSchema: objectSchema({ execution_id: EXECUTION_ID, wait: WAIT }, ["execution_id"]),
      annotations: reads("Show an execution"),
      async call({ execution_id, wait = 0 }, call) {
        const id = String(execution_id);
        const found =
          (await readHeld(parts, call, { id, waitMs: Number(wait) * 1000 })) ??
          (await parts.canonical.find(call.principal, id));
        if (found !== undefined) return renderSummary(found, false);
        return problemResult({ error_code: "execution_not_found", message: "There is no execution with this id." });
      },
    },
  ];
}

const EXECUTION_ID = {
  ...textSchema("The execution_id or approval.id that svc.execute gave."),
  pattern: "^[A-Za-z0-9_-]+$",
};
const WAIT = {
  type: "integer",
  minimum: 0,
  maximum: MAX_APPROVAL_WAIT_SECONDS,
  description: "Seconds to wait for the owner.",
};

const EXECUTE_INPUT = objectSchema(
  {
    integration_id: INTEGRATION_ID,
    action_id: ACTION_ID,
    input: { type: "object", description: "Arguments of the action, as its input schema says." },
    confirm: {
      type: "boolean",
      description: "True for a change that the human wants. They are asked all the same.",
    },
    idempotency_key: textSchema(
      "With the same text, a repeated call returns the first result and does not run again.",
      MAX_IDEMPOTENCY_KEY,
    ),
  },
  ["integration_id", "action_id", "input"],
);

async function execute(parts: ToolParts, args: CanonicalRequest, call: McpCall): Promise<McpResult> {
  const { principal, clientGone } = call;
  const resumed = await resumeHeld(parts, call);
  if (resumed !== undefined) return render(resumed);
  const subject = await describeSubject(await parts.access.view(principal), args);
  const answer = readApproval(call, subject?.shown, parts.now());
  if (answer === "approved") {
    // An approval counts once: a repeated call gets the result of the first.
    const idempotencyKey = args.idempotencyKey ?? `mcp-approval-${call.state?.id}`;
    const connectionId = subject?.connection?.id;
    const approved = { ...args, connectionId, confirm: true, confirmedLevel: readLevel(call), idempotencyKey };
    const outcome = await parts.canonical.execute({ ...approved, principal, clientGone });
    return render(outcome);
  }
  // A model writes the arguments: a call that no person is asked about here waits for the owner, whatever it confirms.
  const isAskedHere = answer === "declined" || (answer !== "nobody" && call.canAsk("form"));
  const unapproved = { ...args, confirm: false, isHeld: !isAskedHere, principal, clientGone };
  const outcome = await parts.canonical.execute(unapproved);
  if (outcome.error?.code !== "confirmation_required") return render(outcome);
  if (findHeldId(outcome) !== undefined) return offerOwnerPage(parts, call, outcome) ?? render(outcome);
  if (answer === "declined") return render(decline(outcome));
  if (subject === undefined) return render(outcome);
  const { entry, connection, shown } = subject;
  const asked = outcome.entry ?? entry;
  const question = askApproval({ entry: asked, input: args.input, account: connection?.label });
  return call.ask(question, { asked: APPROVAL, shown, level: levelOf(asked), at: parts.now() });
}

/** The level that whoever answered the question was shown; one that does not say it covers only reads. */
function readLevel({ state }: McpCall): SideEffectLevel {
  return sideEffectLevelSchema.safeParse(isRecord(state?.data) ? state.data.level : undefined).data ?? "read";
}

/** The current subject of a call; `shown` differs once the account, its label or the level of the action does. */
async function describeSubject({ catalog, connections }: AccessView, { integrationId, actionId }: CanonicalRequest) {
  const entry = catalog.findAction(integrationId, actionId);
  if (entry === undefined) return undefined;
  const connection = findDefaultConnection(await connections.list(entry.integration.slug));
  const shown = hashInput([entry.toolName, entry.action.level, connection?.id ?? null, connection?.label ?? null]);
  return { entry, connection, shown };
}

function decline(outcome: StoredExecution): StoredExecution {
  const error = new ServiceError(409, "confirmation_required", "The human did not approve this call; it was not run.", {
    hint: "Do not send it again unless the human asks for it.",
  });
  return { ...outcome, error };
}

/** A blocked call is a normal result whose `status` says so: it is a step on the way, not an error of the tool. */
function render(outcome: StoredExecution): McpResult {
  return renderSummary(outcome, outcome.status === "failed");
}

function renderSummary(outcome: StoredExecution, isError: boolean): McpResult {
  const summary = summariseOutcome(outcome);
  const hint = typeof summary.hint === "string" ? { hint: toToolWords(summary.hint) } : {};
  return structuredResult({ ...summary, ...hint }, isError);
}

/** Key of the question and of its answer. */
export const APPROVAL = "approval";
/** Clients show forms in narrow windows; some render Markdown in them. */
const COLUMNS = 64;

interface AskedCall {
  readonly entry: CatalogEntry;
  readonly input: Readonly<Record<string, unknown>>;
  /** Label of the account it would use. */
  readonly account: string | undefined;
}

/** The question to the human: the call with its final input. */
export function askApproval(call: AskedCall): Readonly<Record<string, InputRequest>> {
  const facts = [...describeCall(call), fact("Approve?", nameCall(call))];
  const lines = fence(layOutFacts(facts, { columns: COLUMNS, rows: Number.POSITIVE_INFINITY }).rows);
  const approve = {
    type: "boolean",
    title: "Approve",
    description: "Run exactly this call, once.",
    default: false,
  };
  const requestedSchema = { type: "object", properties: { approve }, required: ["approve"] };
  const params = { mode: "form", message: lines.join("\n"), requestedSchema };
  return { [APPROVAL]: { method: "elicitation/create", params } };
}

function describeCall({ entry, input, account }: AskedCall): CardFact[] {
  const { integration, action } = entry;
  const prose = (label: string, lines: readonly string[]) => {
    const values = lines.map((line) => ({ line: drawProse(line, IN_FENCE) }));
    return { label, values, isBoilerplate: true };
  };
  return [
    fact("Action", drawText(action.title, IN_FENCE)),
    fact("Tool", drawText(entry.toolName, IN_FENCE)),
    fact("App", drawText(integration.name, IN_FENCE)),
    ...(account === undefined ? [] : [fact("Account", drawText(account, IN_FENCE))]),
    fact(
      "Effect",
      drawText(entry.raised === undefined ? action.level : `${entry.raised.level}: ${entry.raised.says}`, IN_FENCE),
    ),
    Object.keys(input).length === 0
      ? fact("Arguments", "none")
      : { label: "Arguments", values: drawArguments(Object.entries(input), IN_FENCE) },
    prose("Why asked", [explainPolicy(entry) ?? ""]),
    prose("Check", action.askBefore ?? []),
  ];
}

function fact(label: string, line: string): CardFact {
  return { label, values: [{ line }] };
}

/** Tool, effect and account, to stand beside the question. */
function nameCall({ entry, account }: AskedCall): string {
  const parts = [entry.toolName, levelOf(entry), account ?? entry.integration.name];
  return parts.map((part) => drawPart(part, IN_FENCE)).join(", ");
}

/**
 * The decision of the human; undefined when this call was not asked about or not answered. A yes counts only while `shown`, the
 * digest of the subject of the call, is the same as when the question was asked.
 */
function readApproval(call: McpCall, shown: string | undefined, now: number): FormVerdict | undefined {
  const asked = isRecord(call.state?.data) && call.state.data.asked === APPROVAL ? call.state.data : undefined;
  const answer = call.answers[APPROVAL];
  if (asked === undefined || !isRecord(answer)) return undefined;
  const verdict = readFormAnswer(answer, now - Number(asked.at));
  return verdict === "approved" && asked.shown !== shown ? undefined : verdict;
}
