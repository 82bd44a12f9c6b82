import type { McpSkill } from "../../shared/wire/mcp-skill.ts";
import type { JsonSchema } from "../../shared/wire/tool.ts";
import type { McpEra } from "./protocol.ts";

/** Kinds of questions to a client while a request waits. */
export type InputKind = "form" | "url" | "sampling" | "roots";

/** One question to a client, e.g. `{ method: "elicitation/create", params }`. */
export interface InputRequest {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** A genuine request state. */
export interface OpenedState {
  /** Different for every question asked. */
  readonly id: string;
  readonly expiresAt: number;
  readonly data: unknown;
}

/** One running request, as tools and prompts see it. */
export interface McpCall {
  readonly era: McpEra;
  /** The account and key the request was made with. */
  readonly principal: { readonly accountId: string; readonly apiKeyId: string };
  readonly clientGone: AbortSignal;
  /** Answers of the client to earlier questions, by key; empty on the first try. Never trustworthy by themselves. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** State that this server kept for this request; undefined unless the client sent the genuine text back. */
  readonly state: OpenedState | undefined;
  /** True when the client said it can be asked for this. Never in the legacy revisions, which would need a stream. */
  canAsk(kind: InputKind): boolean;
  /**
   * True for a client that shows pages of servers, as far as is known: the legacy revisions tell it once, which is not kept,
   * and a client that shows none ignores what is for pages.
   */
  readonly showsApps: boolean;
  /** The result that asks the client; `data` comes back in {@link McpCall.state} with its answer. */
  ask(requests: Readonly<Record<string, InputRequest>>, data?: unknown): McpResult;
}

/** The `result` member of an answer. */
export type McpResult = Readonly<Record<string, unknown>>;

/** Hints for the host of a model. The last two are written where a tool does not only read: their defaults surprise. */
export interface ToolAnnotations {
  readonly title: string;
  readonly readOnlyHint: boolean;
  readonly openWorldHint: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
}

/** A tool. `call` gets arguments that match `inputSchema`. */
export interface McpTool {
  readonly name: string;
  /** Other names it answers to, never listed. */
  readonly aliases?: readonly string[];
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly annotations?: ToolAnnotations;
  /** For the client, not for its model. */
  readonly _meta?: McpResult;
  /** True where `call` gets any object, and says by itself what is wrong with it. */
  readonly checksItself?: true;
  call(args: Readonly<Record<string, unknown>>, call: McpCall): Promise<McpResult>;
}

/** A prompt. `get` finds every required argument. */
export interface McpPrompt {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly arguments?: readonly { readonly name: string; readonly description: string; readonly required: boolean }[];
  get(args: Readonly<Record<string, string>>, call: McpCall): McpResult;
}

/** A text or a file that a model may read. */
export interface McpResource {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly mimeType: string;
  read(): ({ readonly text: string } | { readonly blob: string }) & { readonly _meta?: McpResult };
}

/** A family of resources; `read` is undefined for an address outside it. */
export interface McpResourceTemplate {
  readonly uriTemplate: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType: string;
  read(uri: string): { readonly text: string } | undefined;
}

/** Everything an MCP endpoint offers. */
export interface McpFeatures {
  readonly tools: readonly McpTool[];
  readonly prompts: readonly McpPrompt[];
  readonly resources: readonly McpResource[];
  readonly resourceTemplates?: readonly McpResourceTemplate[];
  /** Their files are resources too. */
  readonly skills?: readonly McpSkill[];
  /** More methods of each revision family, by name, and the capabilities that announce them. */
  readonly more?: Readonly<Partial<Record<McpEra, MoreMethods>>>;
}

/** Methods beyond tools, prompts and resources. */
interface MoreMethods {
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly methods: Readonly<Record<string, (params: Readonly<Record<string, unknown>>) => McpResult>>;
}
