import type { Client } from "@modelcontextprotocol/client";
import { z } from "zod";
import { judgeArgument } from "../../shared/base/credential-name.ts";
import { toDoubles } from "../../shared/base/exact-number.ts";
import { toPlainText } from "../../shared/card/plain-text.ts";
import { type JsonSchema, jsonSchemaSchema } from "../../shared/wire/tool.ts";
import { applyLevels } from "../port/action-levels.ts";
import { listScopes } from "../port/bearer-challenge.ts";
import type { NewSource } from "../port/source.ts";
import {
  createContent,
  dropMembers,
  type SourceContent,
  type StoredAction,
  toActionId,
  toDistinctId,
  toLine,
} from "../port/source-content.ts";
import { connectMcp, listMcpSettings, type McpDefinition } from "./connect-mcp.ts";
import { findSignInChallenge } from "./mcp-failure.ts";

/** Of a list of tools; a server may send each tool on a page of its own. */
const MAX_PAGES = 1_000;
const NAME_MAX = 64;
const TITLE_MAX = 200;
const SHOWN_MAX = 80;
/** Of an app. */
const APP_NAME_MAX = 60;

/** As the server sent it: the schema keeps the order of its keys. */
const toolSchema = z.looseObject({
  name: z.string().min(1),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: jsonSchemaSchema,
  annotations: z
    .looseObject({
      title: z.string().optional(),
      readOnlyHint: z.boolean().optional(),
      destructiveHint: z.boolean().optional(),
      idempotentHint: z.boolean().optional(),
    })
    .optional()
    .catch(undefined),
});
const namedSchema = z.looseObject({ name: z.string().min(1) });
type McpTool = z.output<typeof toolSchema>;

const pageSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().nullish() });

/** Content of `StoredAction.call` for this kind. */
export const mcpCallSchema = z.object({ tool: z.string() });

/** The tools a server offers now. */
export interface McpListing {
  readonly content: SourceContent;
  /** One sentence for each tool that was left out or renamed, and for a list without an end. */
  readonly notes: readonly string[];
}

/** Lists every tool of a connected server. Rejects with the SDK's error. */
export async function readMcpTools(
  client: Client,
  place: { slug: string; name: string; definition: McpDefinition },
  signal?: AbortSignal,
): Promise<McpListing> {
  const tools: unknown[] = [];
  const asked = new Set<string>();
  let cursor = "";
  do {
    asked.add(cursor);
    const params = cursor === "" ? {} : { cursor };
    // Asked for as raw JSON: the SDK's own types would put the keys of each schema into another order.
    const reply = await client.request({ method: "tools/list", params }, pageSchema, { ...(signal && { signal }) });
    // The bounds of schemas are compared, not sent.
    tools.push(...reply.tools.map(toDoubles));
    // Some servers say null or "" at the end, which the protocol has not.
    cursor = reply.nextCursor ?? "";
  } while (cursor !== "" && asked.size < MAX_PAGES && !asked.has(cursor));
  const listing = toListing(tools, place);
  if (cursor === "") return listing;
  const note = `The list of tools has no end: what came after page ${asked.size} was left out.`;
  return { ...listing, notes: [...listing.notes, note] };
}

function toListing(
  tools: readonly unknown[],
  { slug, name, definition }: { slug: string; name: string; definition: McpDefinition },
): McpListing {
  const notes: string[] = [];
  const actions = new Map<string, StoredAction>();
  for (const [index, raw] of tools.entries()) {
    const parsed = toolSchema.safeParse(raw);
    if (!parsed.success) {
      notes.push(`${describeUnreadable(raw, index)} cannot be read.`);
      continue;
    }
    const shown = showName(parsed.data.name);
    const open = withholdSecrets(parsed.data.inputSchema);
    if (open.needed !== undefined) {
      notes.push(
        `${shown} was left out: it needs a secret as its argument ${showName(open.needed)}, and no model is given one.`,
      );
      continue;
    }
    for (const secret of open.withheld) {
      notes.push(
        `${shown} does without its argument ${showName(secret)}: it holds a secret, and no model is given one.`,
      );
    }
    const tool = { ...parsed.data, inputSchema: open.schema };
    const action = toAction(tool, NAME_MAX - slug.length - 1);
    if (actions.has(action.id)) {
      notes.push(`${shown} was left out: another tool has the same name.`);
      continue;
    }
    if (action.id !== parsed.data.name) notes.push(`${shown} is called "${action.id}" here.`);
    actions.set(action.id, action);
  }
  return { notes, content: toContent(name, definition, [...actions.values()]) };
}

/** The arguments of a tool without those that hold secrets. A secret reaches a server by its variables or headers. */
function withholdSecrets(schema: JsonSchema): {
  readonly schema: JsonSchema;
  readonly withheld: readonly string[];
  /** One without which the tool cannot be called. */
  readonly needed: string | undefined;
} {
  const properties = typeof schema.properties === "object" && schema.properties !== null ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const withheld = Object.entries(properties).flatMap(([name, part]) =>
    judgeArgument({ name, place: "body", schema: part }) === "yes" ? [name] : [],
  );
  if (withheld.length === 0) return { schema, withheld, needed: undefined };
  const open = { ...schema };
  dropMembers(open, withheld);
  return { schema: open, withheld, needed: withheld.find((name) => required.includes(name)) };
}

/** The tool as the server named it, or by its place. */
function describeUnreadable(raw: unknown, index: number): string {
  const named = namedSchema.safeParse(raw);
  if (!named.success) return `The tool at place ${index + 1} of the list was left out: its name`;
  return `${showName(named.data.name)} was left out: its schema`;
}

function showName(name: string): string {
  return `"${toPlainText(name, { max: SHOWN_MAX })}"`;
}

function toContent(name: string, definition: McpDefinition, actions: StoredAction[]): SourceContent {
  const content = createContent({
    description: `${name}: ${actions.length} tools of an MCP server.`,
    category: "mcp",
    scopes: [],
    settingsForm: listMcpSettings(definition).map(({ optional: _, ...field }) => field),
    actions,
  });
  return applyLevels(content, definition);
}

/** With the level by default. */
function toAction(tool: McpTool, max: number): StoredAction {
  const { readOnlyHint, destructiveHint, idempotentHint } = tool.annotations ?? {};
  const isMarked = readOnlyHint !== undefined || destructiveHint !== undefined;
  const mark = readOnlyHint === true ? "read" : destructiveHint === true ? "delete" : isMarked ? "write" : undefined;
  return {
    id: chooseId(tool.name, max),
    title: (tool.title ?? tool.annotations?.title ?? tool.name).slice(0, TITLE_MAX),
    description: tool.description ?? "",
    level: "write",
    requiresConfirmation: true,
    idempotent: false,
    inputSchema: tool.inputSchema,
    scopes: [],
    own: { level: mark, idempotent: idempotentHint === true },
    call: { tool: tool.name },
  };
}

/** What has to be cut or changed gets a hash: another tool may come that has the plain name. */
function chooseId(name: string, max: number): string {
  const plain = toActionId(name, max);
  return plain === name ? name : toDistinctId(name, max);
}

/**
 * Asks a server once what it offers, and ends it again.
 *
 * @param place.name display name; default: the name the server gives itself.
 * @param settings values of the definition's variables or headers.
 * @returns the app, and one sentence for each thing the owner should know. A server that asks for a sign-in is not listed
 * before the owner has signed in. Rejects with `McpConnectError`.
 */
export async function prepareMcp(
  place: { slug: string; name: string | undefined; definition: McpDefinition },
  settings: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<{ source: NewSource; notes: readonly string[]; needsSignIn: boolean }> {
  try {
    return { ...(await prepareListed(place, settings, signal)), needsSignIn: false };
  } catch (error) {
    const definition = describeSignIn(place.definition, error);
    if (definition === undefined) throw error;
    return prepareUnlisted({ ...place, definition });
  }
}

async function prepareListed(
  place: Parameters<typeof prepareMcp>[0],
  settings: Readonly<Record<string, string>>,
  signal: AbortSignal,
) {
  const { slug, definition } = place;
  const session = await connectMcp(definition, settings, { signal });
  try {
    const server = session.client.getServerVersion();
    const said = [place.name, server?.title, server?.name].map((text) => toLine((text ?? "").slice(0, APP_NAME_MAX)));
    const name = said.find((text) => text !== "") ?? slug;
    const { content, notes } = await readMcpTools(session.client, { slug, name, definition }, signal);
    const source: NewSource = { slug, kind: "mcp", name, definition, content };
    return { source, notes };
  } finally {
    await session.close();
  }
}

/** The definition of a server that refused us because nobody is signed in, and that was given no header to sign in with. */
function describeSignIn(definition: McpDefinition, error: unknown): McpDefinition | undefined {
  if (definition.transport !== "http" || definition.headers.length > 0) return undefined;
  const challenge = findSignInChallenge(error);
  if (challenge === undefined) return undefined;
  const { scopes = [], flow = "code" } = definition.signIn ?? {};
  const asked = scopes.length > 0 ? scopes : listScopes(challenge);
  const { resource_metadata: resourceMetadata } = challenge;
  return {
    ...definition,
    signIn: { flow, scopes: asked, ...(resourceMetadata !== undefined && { resourceMetadata }) },
  };
}

function prepareUnlisted({ slug, name = slug, definition }: Parameters<typeof prepareMcp>[0]) {
  const content = createContent({
    description: `${name} has no actions yet: its owner signs in, and allows what it offers then.`,
    category: "mcp",
    scopes: [],
    settingsForm: [],
    actions: [],
  });
  const source: NewSource = { slug, kind: "mcp", name: toLine(name), definition, content };
  const notes = ["It asks you to sign in. What it offers is shown after that, and used when you allow it."];
  return { source, notes, needsSignIn: true };
}
