import type { McpResource } from "./mcp-features.ts";

const GUIDE = `# Using svc

1. \`svc.search\` finds an action by what it should do; \`svc.list_actions\` lists those of one app.
2. \`svc.get_action\` gives its input schema, whether a human must approve it, and examples. Read it before every first use: field names are never guessed.
3. \`svc.execute\` runs it on the default connection of the app.
4. Reading needs no approval. What changes something is blocked with \`policy_blocked\` until a human approved exactly this call; then send it again, unchanged, with \`confirm\` true.
5. An \`idempotency_key\` makes it safe to repeat a call whose answer was lost.
6. \`svc.get_execution\` shows the stored output of an execution.

Files: put a public https address into a file field of \`input\`.
`;

const ERRORS = `# When a call does not succeed

\`status\` is \`blocked\` when nothing ran and \`failed\` when it ran and went wrong.

| error_code | what to do |
|---|---|
| integration_not_found, action_not_found | search again; never guess names |
| integration_not_connected, reauth_required | follow \`recommended_next_action\`: \`svc.connect_app\` gives a page for the human; then send the same call again |
| forbidden | the connection lacks a permission; the human reconnects and grants it |
| validation_error | correct \`input\` as \`message\` says |
| policy_blocked | ask the human, then send the same call with \`confirm\` true; or let the human choose a default connection |
| rate_limited, timeout | wait and repeat a read; before repeating a write, check with a read whether it took effect |
| unsupported_operation | do not retry |
| execution_failed | read \`message\` and \`hint\` |
`;

/** Two short guides for models. */
export const svcResources: readonly McpResource[] = [
  {
    uri: "svc://guide/using",
    name: "using-svc",
    title: "Using svc",
    description: "How the tools belong together, and how changes are approved.",
    mimeType: "text/markdown",
    read: () => ({ text: GUIDE }),
  },
  {
    uri: "svc://guide/errors",
    name: "svc-errors",
    title: "When a call does not succeed",
    description: "What each error_code asks for.",
    mimeType: "text/markdown",
    read: () => ({ text: ERRORS }),
  },
];
