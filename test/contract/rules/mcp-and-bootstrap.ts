import type { RuleGroup } from "./rule.ts";

/** The MCP endpoint, its server card, and the installer bootstrap. */
export const mcpAndBootstrapRules: readonly RuleGroup[] = [
  {
    section: "Endpoints > MCP",
    by: "service",
    rules: {
      "mcp.listing": "GET /api/mcp answers ok, transport, endpoint, tools, prompts and resources without a handshake.",
      "mcp.unauthorized": "GET and POST /api/mcp answer 401 without key or token.",
      "mcp.rpc": "POST /api/mcp answers JSON-RPC 2.0 without an event stream.",
      "mcp.rpc-request": "A request has jsonrpc 2.0 and a method; id is an integer, a string or null.",
      "mcp.rpc-response": "A response has jsonrpc, id and either result or error.",
      "mcp.rpc-error": "Errors travel in error with code, message and data at HTTP 200.",
      "mcp.initialize": "initialize is supported.",
      "mcp.tools-list": "tools/list is supported.",
      "mcp.tools-call": "tools/call is supported.",
      "mcp.ten-tools": "The server exposes ten tools in the svc namespace.",
      "mcp.discovery-tools": "svc.search, svc.list_actions and svc.get_action are there.",
      "mcp.connection-tools": "svc.list_integrations, svc.get_connection and svc.connect_app are there.",
      "mcp.execution-tools": "svc.execute and svc.get_execution are there.",
      "mcp.execute-confirm": "Write tools need confirm true in the svc.execute arguments.",
    },
  },
  {
    section: "Resources > MCP server card",
    by: "service",
    rules: {
      "mcp.card.required": "The card has name, version and description.",
      "mcp.card.optional": "The card may have $schema, title, websiteUrl and remotes.",
      "mcp.card.no-lists": "The card carries no tools, prompts or resources.",
      "mcp.card.paths": "The card is served on both documented paths.",
      "mcp.card.content-type": "The card is served as application/mcp-server-card+json.",
      "mcp.card.not-modified": "A matching If-None-Match answers 304.",
    },
  },
  {
    section: "Endpoints > Registration: bootstrap",
    by: "service",
    rules: {
      "bootstrap.start.reply":
        "POST /api/installer/bootstrap-sessions answers session_id, approval_url, poll_url and expires_at.",
      "bootstrap.start.optional": "status, poll_interval_ms and display may accompany them.",
      "bootstrap.start.body-optional": "The body is an optional free-form object.",
      "bootstrap.start.failure": "A failure answers a bare error.",
      "bootstrap.poll": "After the approval the poll hands out the install configuration with the key.",
      "bootstrap.approval": "The human approves while signed in.",
      "bootstrap.expiry": "A session expires after 15 minutes.",
    },
  },
];
