import { createSkill } from "../../shared/wire/mcp-skill.ts";

const FRONT_MATTER = {
  name: "svc",
  description:
    "Act on the user's connected apps (mail, files, notes and others) with the svc tools. Use it when a task needs something read from or changed in such an app. A human approves every change.",
};

const GUIDE = `# Using svc

1. \`svc.search\` finds an action by what it should do; \`svc.list_actions\` lists those of one app.
2. \`svc.get_action\` gives its input schema, whether a human must approve it, and examples. Read it before every first use: field names are never guessed.
3. \`svc.execute\` runs it on the default connection of the app.
4. Reading needs no approval. What changes something is shown to the human in a form of this client, or blocked with \`policy_blocked\` and an \`approval\`: show the human its \`url\`, and wait for the result with \`svc.get_execution\`, the approval's \`id\` and \`wait\` 30. \`confirm\` approves nothing.
5. An \`idempotency_key\` makes it safe to repeat a call whose answer was lost.
6. \`svc.get_execution\` shows the stored output of an execution.

Files: put a public https address into a file field of \`input\`.

When a call does not succeed, its \`error_code\` says what to do: see references/errors.md.
`;

const ERRORS = `# When a call does not succeed

\`status\` is \`blocked\` when nothing ran and \`failed\` when it ran and went wrong.

| error_code | what to do |
|---|---|
| integration_not_found, action_not_found | search again; never guess names |
| integration_not_connected, reauth_required | follow \`recommended_next_action\`: \`svc.connect_app\` gives a page for the human; then send the same call again |
| forbidden | the connection lacks a permission; the human reconnects and grants it |
| validation_error | correct \`input\` as \`message\` says |
| policy_blocked | with an \`approval\`: wait for its owner with \`svc.get_execution\`; else let the human choose a default connection |
| rate_limited, timeout | wait and repeat a read; before repeating a write, check with a read whether it took effect |
| unsupported_operation | do not retry |
| execution_failed | read \`message\` and \`hint\` |
`;

/** How to use the tools of the endpoint. */
export const ownSkill = createSkill(FRONT_MATTER, GUIDE, {
  "references/errors.md": { description: "What each error_code asks for.", text: ERRORS },
});
