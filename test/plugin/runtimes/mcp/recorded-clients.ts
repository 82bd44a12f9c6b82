import type { ClientCapabilities } from "@modelcontextprotocol/client";

/** A client as it introduces itself, and whether it reads skills by the Skills extension. */
export interface RecordedClient {
  readonly name: string;
  /** As it declares them, or as its documents say where no record was found. */
  readonly capabilities: ClientCapabilities;
  readonly skills: "yes" | "partly" | "no";
}

const PAGES = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };
const FORMS_AND_LINKS = { form: {}, url: {} };

/** The clients of the table in docs/mcp-clients.md. */
export const RECORDED_CLIENTS: readonly RecordedClient[] = [
  { name: "Claude Code", capabilities: { elicitation: FORMS_AND_LINKS, roots: {} }, skills: "no" },
  { name: "Claude Desktop, claude.ai", capabilities: { extensions: PAGES }, skills: "no" },
  { name: "ChatGPT", capabilities: { elicitation: {}, extensions: PAGES }, skills: "partly" },
  { name: "Codex", capabilities: { elicitation: {} }, skills: "no" },
  { name: "Cursor", capabilities: { elicitation: {}, extensions: PAGES, roots: {} }, skills: "no" },
  {
    name: "VS Code",
    capabilities: { elicitation: FORMS_AND_LINKS, extensions: PAGES, roots: { listChanged: true }, sampling: {} },
    skills: "no",
  },
  { name: "Goose", capabilities: { extensions: PAGES }, skills: "no" },
  { name: "Gemini CLI", capabilities: {}, skills: "no" },
  { name: "Windsurf", capabilities: {}, skills: "no" },
  { name: "Zed", capabilities: {}, skills: "no" },
];

/** What a client can show a human, as the table says it. */
export function describeClient({ name, capabilities, skills }: RecordedClient) {
  const { elicitation, extensions } = capabilities;
  const hasForms = elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
  const say = (has: boolean) => (has ? "yes" : "no");
  return [name, say(hasForms), say(elicitation?.url !== undefined), say(extensions !== undefined), skills] as const;
}
