import { isRecord } from "../../../shared/base/json.ts";
import { type CardFact, fence, IN_FENCE, layOutFacts } from "../../../shared/card/card-layout.ts";
import { drawArguments, drawPart, drawProse, drawText } from "../../../shared/card/card-text.ts";
import { drawPreview, splitTold } from "../../../shared/card/preview-facts.ts";
import { MAX_APPROVAL_WAIT_SECONDS } from "../../../shared/wire/approval.ts";
import { type SideEffectLevel, sideEffectLevelSchema } from "../../../shared/wire/catalog.ts";
import { type FormVerdict, readFormAnswer } from "../../../shared/wire/form-answer.ts";
import { SHOWN_BY_APP, showWaiting } from "../../../shared/wire/mcp-app.ts";
import type { Preview } from "../../../shared/wire/preview.ts";
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
        "Runs one action. Read its input schema with svc.get_action first. A change runs only after a human approved it.",
      inputSchema: EXECUTE_INPUT,
      annotations: {
        title: "Run an action",
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: false,
        openWorldHint: true,
      },
      _meta: SHOWN_BY_APP,
      call: (args, call) => orRefuse(() => executeAction(parts, readCanonicalRequest(args), call)),
    },
    {
      name: "svc.get_execution",
      description: "Shows the output of an execution or of a call that waits for the owner.",
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
  ...textSchema("execution_id or approval.id of svc.execute."),
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
    input: { type: "object", description: "As the input schema says." },
    confirm: {
      type: "boolean",
      description: "The human wants this change; they are asked all the same.",
    },
    idempotency_key: textSchema("A repeated call with this key only returns the first result."),
  },
  ["integration_id", "action_id", "input"],
);

/**
 * Runs an action; what changes something is put before a human: in a form of the client, or by the owner's inbox. No argument
 * of the request confirms it.
 */
export async function executeAction(parts: ToolParts, args: CanonicalRequest, call: McpCall): Promise<McpResult> {
  const { principal, clientGone } = call;
  const resumed = await resumeHeld(parts, call);
  if (resumed !== undefined) return render(resumed);
  const subject = await describeSubject(await parts.access.view(principal), args);
  const answer = readApproval(call, subject?.shown, parts.now());
  if (answer === "approved") {
    // An approval counts once: a repeated call gets the result of the first.
    const idempotencyKey = args.idempotencyKey ?? `mcp-approval-${call.state?.id}`;
    const connectionId = subject?.connection?.id;
    const shown = { confirmedLevel: readLevel(call), previewState: readState(call) };
    const approved = { ...args, ...shown, connectionId, confirm: true, idempotencyKey };
    const outcome = await parts.canonical.execute({ ...approved, principal, clientGone });
    // What they were shown is not true any more: they are asked again.
    if (!outcome.isStale || outcome.error?.code !== "confirmation_required") return render(outcome);
    return ask(parts, call, { args, subject, outcome });
  }
  // A model writes the arguments: a call that no person is asked about here waits for the owner, whatever it confirms.
  const isAskedHere = answer === "declined" || (answer !== "nobody" && call.canAsk("form"));
  const unapproved = { ...args, confirm: false, isHeld: !isAskedHere, principal, clientGone };
  const outcome = await parts.canonical.execute(unapproved);
  if (outcome.error?.code !== "confirmation_required") return render(outcome);
  const asked = { args, subject, outcome };
  const heldId = findHeldId(outcome);
  if (heldId !== undefined)
    return (
      offerOwnerPage(parts, call, outcome) ?? { ...render(outcome), ...showHeld(parts, call, { ...asked, heldId }) }
    );
  if (answer === "declined") return render(decline(outcome));
  return ask(parts, call, asked);
}

/** A call that was refused for the want of an approval. */
interface Refused {
  readonly args: CanonicalRequest;
  readonly subject: Subject;
  readonly outcome: StoredExecution;
}

/** Asks the human about it. */
function ask(parts: ToolParts, call: McpCall, { args, subject, outcome }: Refused) {
  if (subject === undefined) return render(outcome);
  const asked = readAsked(args, subject, outcome);
  const question = askApproval(asked);
  const { shown } = subject;
  const state = asked.preview?.state;
  return call.ask(question, { asked: APPROVAL, shown, level: levelOf(asked.entry), at: parts.now(), state });
}

/** For the page that a client shows beside the result: a call that waits for the owner, and where that is. */
function showHeld(
  parts: ToolParts,
  call: McpCall,
  { args, subject, outcome, heldId }: Refused & { readonly heldId: string },
) {
  if (!call.showsApps || subject === undefined) return {};
  const card = drawCall(describeCall(readAsked(args, subject, outcome)));
  return { _meta: showWaiting({ url: parts.approvals.urlOf(heldId), card }) };
}

function readAsked(
  { input }: CanonicalRequest,
  { entry, connection }: NonNullable<Subject>,
  outcome: StoredExecution,
): AskedCall {
  const { preview, preview_failed: isUnread } = summariseOutcome(outcome);
  return { entry: outcome.entry ?? entry, input, account: connection?.label, preview, isUnread };
}

/** State of the preview that whoever answered the question was shown. */
function readState({ state }: McpCall): string | undefined {
  return isRecord(state?.data) && typeof state.data.state === "string" ? state.data.state : undefined;
}

type Subject = Awaited<ReturnType<typeof describeSubject>>;

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
  /** What it would do; undefined where that is not known. */
  readonly preview?: Preview | undefined;
  /** True where the present state could not be read. */
  readonly isUnread?: boolean | undefined;
}

/** The question to the human: the call with its final input. */
export function askApproval(call: AskedCall): Readonly<Record<string, InputRequest>> {
  const facts = [...describeCall(call), fact("Approve?", nameCall(call))];
  const lines = fence(drawCall(facts));
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

function drawCall(facts: readonly CardFact[]): readonly string[] {
  return layOutFacts(facts, { columns: COLUMNS, rows: Number.POSITIVE_INFINITY }).rows;
}

function describeCall({ entry, input, account, preview, isUnread }: AskedCall): CardFact[] {
  const { integration, action } = entry;
  const { untold, told } = splitTold(input, preview);
  const prose = (label: string, lines: readonly string[]) => {
    const values = lines.map((line) => ({ line: drawProse(line, IN_FENCE) }));
    return { label, values, isBoilerplate: true };
  };
  return [
    ...drawPreview({ preview, previewFailed: isUnread }, IN_FENCE),
    fact("Action", drawText(action.title, IN_FENCE)),
    fact("Tool", drawText(entry.toolName, IN_FENCE)),
    fact("App", drawText(integration.name, IN_FENCE)),
    ...(account === undefined ? [] : [fact("Account", drawText(account, IN_FENCE))]),
    fact(
      "Effect",
      drawText(entry.raised === undefined ? action.level : `${entry.raised.level}: ${entry.raised.says}`, IN_FENCE),
    ),
    ...(Object.keys(input).length === 0 ? [fact("Arguments", "none")] : []),
    { label: "Arguments", values: drawArguments(Object.entries(untold), IN_FENCE) },
    prose("Why asked", [explainPolicy(entry) ?? ""]),
    prose("Check", action.askBefore ?? []),
    { label: "As sent", values: drawArguments(Object.entries(told), IN_FENCE) },
  ].filter(({ values }) => values.length > 0);
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
