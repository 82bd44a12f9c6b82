import type { RuleGroup } from "./rule.ts";

/** Where the document says "not shown": what this package does instead. The plugin tolerates other choices. */
export const decisionRules: readonly RuleGroup[] = [
  {
    section: "Endpoints > Discovery (not shown)",
    by: "service",
    rules: {
      "decision.limit-clamped": "A limit outside 1 to 200 is clamped; one that is no number means the default.",
      "decision.notice-shape":
        "The truncation notice is name, integration and inputSchema null with a description, and is not in count.",
    },
  },
  {
    section: "Endpoints > File ingest (not shown)",
    by: "service",
    rules: {
      "decision.ingest.bearer": "The ingest token travels as a bearer token.",
      "decision.ingest.raw-body": "An ingest body is the raw bytes of one file.",
      "decision.ingest.multipart": "An ingest body may be one multipart part instead.",
      "decision.ingest.reply": "An ingest answers 201 with s3key, name, mimetype, size and md5.",
      "decision.ingest.token-bound": "A token is bound to account, tool, field and size.",
      "decision.ingest.token-lifetime": "A token lives ten minutes.",
      "decision.ingest.errors":
        "An ingest is refused by a bare error: 401 for the token, 413 for the size, 503 without a secret.",
      "decision.hint.curl": "The hint holds one curl line.",
      "decision.hint.structured-twin":
        "error.upload repeats it as url, method, headers, field, maxBytes and expiresAt.",
    },
  },
  {
    section: "Endpoints > Registration (not shown)",
    by: "service",
    rules: {
      "decision.pair.statuses": "A pairing is awaiting_approval, approved, exchanged, expired or denied.",
      "decision.pair.lifetime": "A pairing session lives 15 minutes.",
      "decision.pair.wrong-verifier": "A wrong verifier answers 400.",
      "decision.pair.five-tries": "After five wrong verifiers the session is over.",
      "decision.pair.not-approved-409": "An exchange before the approval answers 409.",
      "decision.pair.expired-410": "An exchange after the expiry answers 410.",
      "decision.pair.unknown-404": "An exchange of an unknown session answers 404.",
      "decision.pair.denied": "A denied session yields no key and says that it was denied.",
      "decision.bootstrap.poll-shape": "The poll answers session_id, status, expires_at and poll_interval_ms.",
      "decision.bootstrap.install-once": "install is handed out exactly once after the approval.",
    },
  },
  {
    section: "Endpoints > Execution (not shown)",
    by: "service",
    rules: {
      "decision.arguments-not-object": "arguments that are no object answer 400 invalid_arguments.",
      "decision.confirmed-boolean-only": "confirmed counts only as the boolean true.",
      "decision.order-of-checks":
        "Checks run in one order: files shape, tool, connection, renewal, scopes, arguments, confirmation, files, provider.",
    },
  },
  {
    section: "Authentication (not shown)",
    by: "service",
    rules: {
      "decision.own-header-wins": "When both key headers are sent, x-svc-api-key counts.",
      "decision.key-revocable": "A revoked key is refused from the next request on.",
    },
  },
  {
    section: "Not shown, on the plugin's side",
    by: "plugin",
    rules: {
      "decision.plugin-tolerates-other-hints":
        "A hint in another documented-looking form is used when it is safe, and refused when it is not.",
      "decision.plugin-tolerates-other-pair-statuses": "An exchange refused with any status keeps its reason.",
    },
  },
  {
    section: "Not shown, with the canonical model",
    by: "service",
    rules: {
      "decision.execution-unknown-404": "An unknown or foreign execution id answers 404 bare.",
      "decision.idempotency-conflict": "A key reused with other input answers 409 validation_error and runs nothing.",
      "decision.canonical-connection":
        "connection_id names the account of a canonical execution; an unknown one is blocked.",
      "decision.canonical-lookup":
        "GET /api/executions?idempotency_key= finds what was done under a key and runs nothing.",
      "decision.canonical-401-summary": "A bad key on canonical execute answers a summary with unauthorized.",
      "decision.offload-header": "Large outputs are offloaded on a request header and read back by execution id.",
    },
  },
  {
    section: "Endpoints > MCP (not shown)",
    by: "service",
    rules: {
      "decision.mcp-unnamed-tools": "The two unnamed MCP tools are svc.whoami and svc.get_integration.",
      "decision.mcp-aliases": "A tool also answers to its name with underscores in place of dots.",
      "decision.mcp-blocked-is-no-error": "A blocked execution is a result without isError; a failed one has it.",
      "decision.mcp-unreadable-400": "What is no single JSON-RPC request answers 400 with a JSON-RPC error.",
      "decision.mcp-notification-202": "A notification answers 202 without a body.",
      "decision.mcp-no-stream-405": "A GET that takes nothing but an event stream answers 405.",
      "decision.mcp-modern": "Revision 2026-07-28 is served too, with the HTTP statuses that it asks for.",
      "decision.mcp-asks-human": "Over that revision a write is approved, and an app connected, by asking the client.",
      "decision.mcp-confirm-approves-nothing":
        "confirm true is no approval: a call that no form asks about waits for the owner, as an unconfirmed one does.",
      "decision.oauth-owner-approves": "Only the signed-in owner approves an OAuth client, each time it asks.",
      "decision.oauth-audience": "An access token is good for /api/mcp of this service and nothing else.",
      "decision.oauth-loopback-http": "A client may register plain http addresses only on loopback.",
      "decision.oauth-replay-ends-approval": "A code or refresh token used twice ends the approval it came from.",
    },
  },
  {
    section: "Endpoints > Flows (not shown)",
    by: "service",
    rules: {
      "decision.flows-limit-clamped": "A flow limit outside 1 to 100 is clamped.",
      "decision.flow.step-statuses": "Steps are pending, running, waiting, completed, failed or skipped.",
      "decision.flow.step-timestamps": "Step timestamps are startedAt and completedAt.",
      "decision.flow.conflicts":
        "Nothing to approve, a wrong stepKey, ending an ended flow and resuming a completed one answer 409 bare.",
      "decision.flow.bad-input": "Missing or invalid input and an unknown template answer 400 bare.",
    },
  },
];
