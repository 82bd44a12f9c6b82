import { MAX_IDEMPOTENCY_KEY } from "../../canonical/idempotency-keys.ts";
import { type CanonicalRequest, readCanonicalRequest } from "../../canonical/read-canonical-request.ts";
import { summariseOutcome } from "../../canonical/summarise-outcome.ts";
import type { StoredExecution } from "../../executions/outcome.ts";
import { ServiceError } from "../../service-error.ts";
import type { McpCall, McpResult, McpTool } from "../mcp-features.ts";
import { problemResult, structuredResult } from "../tool-results.ts";
import { ACTION_ID, INTEGRATION_ID, objectSchema, SUMMARY_SCHEMA, textSchema } from "../tool-schemas.ts";
import { APPROVAL, askApproval, readApproval } from "./ask-approval.ts";
import { refuse, type ToolParts, toToolWords } from "./tool-parts.ts";

/** `svc.execute` and `svc.get_execution`. */
export function createExecutionTools(parts: ToolParts): McpTool[] {
  return [
    {
      name: "svc.execute",
      description:
        "Runs one action of a connected app. Read its input schema with svc.get_action first. An action that changes something runs only after a human approved it: then send the same call with confirm true.",
      inputSchema: EXECUTE_INPUT,
      outputSchema: SUMMARY_SCHEMA,
      annotations: {
        title: "Run an action",
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: false,
        openWorldHint: true,
      },
      async call(args, call) {
        try {
          return await execute(parts, readCanonicalRequest(args), call);
        } catch (error) {
          if (error instanceof ServiceError) return refuse(error);
          throw error;
        }
      },
    },
    {
      name: "svc.get_execution",
      description: "Shows an execution by its id, with its stored output.",
      inputSchema: objectSchema({ execution_id: EXECUTION_ID }, ["execution_id"]),
      outputSchema: SUMMARY_SCHEMA,
      annotations: {
        title: "Show an execution",
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
      async call({ execution_id }, { principal }) {
        const found = await parts.canonical.find(principal.accountId, String(execution_id));
        if (found !== undefined) return renderSummary(found, false);
        return problemResult({ error_code: "execution_not_found", message: "There is no execution with this id." });
      },
    },
  ];
}

const EXECUTION_ID = { ...textSchema("The execution_id that svc.execute gave."), pattern: "^[A-Za-z0-9_-]+$" };

const EXECUTE_INPUT = objectSchema(
  {
    integration_id: INTEGRATION_ID,
    action_id: ACTION_ID,
    input: { type: "object", description: "Arguments of the action, as its input schema says." },
    confirm: {
      type: "boolean",
      default: false,
      description: "True only when a human approved exactly this call. Reading actions do not need it.",
    },
    idempotency_key: textSchema(
      "The same text makes a repeated call return the first result instead of running again.",
      MAX_IDEMPOTENCY_KEY,
    ),
  },
  ["integration_id", "action_id", "input"],
);

async function execute(parts: ToolParts, args: CanonicalRequest, call: McpCall): Promise<McpResult> {
  const { principal, clientGone } = call;
  const answer = readApproval(call);
  if (answer === "approved") {
    // An approval counts once: whoever repeats the call gets the result of the first.
    const idempotencyKey = args.idempotencyKey ?? `mcp-approval-${call.state?.id}`;
    return render(await parts.canonical.execute({ ...args, confirm: true, idempotencyKey, principal, clientGone }));
  }
  const confirm = args.confirm && answer === undefined;
  const outcome = await parts.canonical.execute({ ...args, confirm, principal, clientGone });
  if (outcome.error?.code !== "confirmation_required") return render(outcome);
  if (answer === "declined") return render(decline(outcome));
  const { entry } = outcome;
  if (entry === undefined || !call.canAsk("form")) return render(outcome);
  return call.ask(askApproval(entry, args.input), { asked: APPROVAL });
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
