import type { z } from "zod";
import * as approvals from "../../shared/wire/approval.ts";
import * as catalog from "../../shared/wire/catalog.ts";
import { FLOW_PAGE, TOOL_PAGE } from "../../shared/wire/constants.ts";
import type { CanonicalExecuteRequest, ExecutionSummary, ToolExecuteRequest } from "../../shared/wire/execution.ts";
import type { IngestReply } from "../../shared/wire/file.ts";
import * as flows from "../../shared/wire/flow.ts";
import * as identity from "../../shared/wire/identity.ts";
import { type McpListing, mcpListingSchema, type RpcResponse, type ServerCard } from "../../shared/wire/mcp.ts";
import type { PreviewRequest } from "../../shared/wire/preview.ts";
import * as sessions from "../../shared/wire/registration.ts";
import * as tools from "../../shared/wire/tool.ts";
import { readClientOptions, type SvcClientOptions } from "./client-options.ts";
import { createDispatcher } from "./dispatcher.ts";
import * as ingest from "./ingest.ts";
import * as mcp from "./mcp.ts";
import * as registration from "./registration.ts";
import {
  type ExecuteReply,
  type PreviewReply,
  readExecuteReply,
  readExecution,
  readPreview,
  readResource,
  readStoredReply,
  recogniseShape,
} from "./reply.ts";
import type { HttpDispatcher, RequestBody } from "./request.ts";
import { type ApiCall, type CallOptions, createTransport, encodeSegment, type Transport } from "./transport.ts";

/**
 * The API of the document, one method per endpoint. Each method answers with the parsed resource and throws
 * {@link SvcError}; only the execute methods return failures as values, because those are outcomes to plan for.
 *
 * @example
 * const client = new SvcClient({ baseUrl: "http://127.0.0.1:8790", apiKey });
 * const { tools } = await client.listTools({ integration: "drive" });
 */
export class SvcClient {
  /** Origin and path, no trailing slash. */
  readonly baseUrl: string;
  /** Non-secret name of base URL and key: 16 hex digits, or `anonymous` without a key. */
  readonly principal: string;
  readonly hasKey: boolean;
  /** Default limit of one call in milliseconds, all its tries included. */
  readonly timeoutMs: number;
  readonly #transport: Transport;
  readonly #ownDispatcher: HttpDispatcher | undefined;
  readonly #cards: mcp.CardCache = new Map();
  #closing: Promise<void> | undefined;

  /** @throws SvcError `invalid_config` naming the wrong setting */
  constructor(options: SvcClientOptions) {
    const settings = readClientOptions(options);
    this.baseUrl = settings.baseUrl;
    this.principal = settings.principal;
    this.hasKey = settings.apiKey !== undefined;
    this.timeoutMs = settings.timeoutMs;
    const dispatcher = options.dispatcher ?? createDispatcher(this.baseUrl, options.proxy);
    this.#ownDispatcher = options.dispatcher === undefined ? dispatcher : undefined;
    this.#transport = createTransport({ ...settings, dispatcher });
  }

  async #get<T extends z.ZodType>(
    schema: T,
    path: string,
    options: CallOptions | undefined,
    query?: ApiCall["query"],
  ): Promise<z.output<T>> {
    return readResource(await this.#transport.call({ method: "GET", path, query, options }), schema);
  }

  async #submit<T extends z.ZodType>(
    schema: T,
    path: string,
    options: CallOptions | undefined,
    { body, credential }: Pick<ApiCall, "body" | "credential">,
  ): Promise<z.output<T>> {
    return readResource(await this.#transport.call({ method: "POST", path, body, credential, options }), schema);
  }

  /** `GET /api/tools`: sorted by integration, then name, without schemas. The last entry may be a truncation notice. */
  listTools({ integration, limit }: tools.ToolListQuery = {}, options?: CallOptions): Promise<tools.ToolList> {
    return this.#get(tools.toolListSchema, "/api/tools", options, {
      integration,
      limit: capLimit(limit, TOOL_PAGE.max),
    });
  }

  /** `GET /api/tools/search`. */
  searchTools({ query, integration, limit }: tools.ToolSearchQuery, options?: CallOptions): Promise<tools.ToolSearch> {
    return this.#get(tools.toolSearchSchema, "/api/tools/search", options, {
      query,
      integration,
      limit: capLimit(limit, TOOL_PAGE.max),
    });
  }

  /** `GET /api/tools/{name}`: with the complete schema. Unknown: `service_failure` with status 404. */
  async describeTool(name: string, options?: CallOptions): Promise<tools.Tool> {
    return (await this.#get(tools.toolDescriptionSchema, `/api/tools/${encodeSegment(name, "name")}`, options)).tool;
  }

  /**
   * `POST /api/tools/{name}/execute`. Never repeated unless it provably never left; `sent` of a thrown error tells.
   * A {@link RequestBody} streams its bytes, for requests with files.
   */
  async executeTool(
    name: string,
    body: ToolExecuteRequest | RequestBody,
    options?: CallOptions & {
      /** Sent as `Idempotency-Key` (not in the document): a service that holds the call for its owner knows it again. */
      readonly idempotencyKey?: string | undefined;
    },
  ): Promise<ExecuteReply> {
    const path = `/api/tools/${encodeSegment(name, "name")}/execute`;
    const key = options?.idempotencyKey;
    const headers = key === undefined ? undefined : { [approvals.HOLD_KEY]: key };
    return readExecuteReply(await this.#transport.call({ method: "POST", path, body, headers, options }));
  }

  /** `POST /api/tools/{name}/preview` (not in the document), where the tool's description says `canonical.preview`. */
  async previewTool(name: string, body: PreviewRequest, options?: CallOptions): Promise<PreviewReply> {
    const path = `/api/tools/${encodeSegment(name, "name")}/preview`;
    return readPreview(await this.#transport.call({ method: "POST", path, body, options }));
  }

  /** `POST /api/files/ingest`, at the address and with the token of an upload hint; never sends the API key. */
  ingestFile(request: ingest.IngestRequest, options?: CallOptions): Promise<IngestReply> {
    return ingest.ingestFile(this.#transport, request, options);
  }

  /** `POST /api/executions`. Never repeated unless it provably never left, also with an `idempotency_key`. */
  async execute(body: CanonicalExecuteRequest, options?: CallOptions): Promise<ExecuteReply> {
    return readExecuteReply(await this.#transport.call({ method: "POST", path: "/api/executions", body, options }));
  }

  /** `GET /api/executions/{id}`. A stored summary is returned whatever it says; a refused lookup is thrown. */
  async getExecution(id: string, options?: CallOptions): Promise<ExecutionSummary> {
    const path = `/api/executions/${encodeSegment(id, "id")}`;
    return readExecution(await this.#transport.call({ method: "GET", path, options }));
  }

  /**
   * `GET /api/executions?idempotency_key=` (not in the document): finds the execution of a key, without acting.
   * Undefined when there is none so far; a request in flight may still act later. Use it where a tool's description says
   * `canonical.idempotency_key.lookup`.
   */
  async findExecution(idempotencyKey: string, options?: CallOptions): Promise<ExecutionSummary | undefined> {
    const query = { idempotency_key: idempotencyKey };
    const reply = await this.#transport.call({ method: "GET", path: "/api/executions", query, options });
    const isNothing = reply.status === 404 && recogniseShape(reply.json)?.kind === "bare";
    return isNothing ? undefined : readExecution(reply);
  }

  /**
   * `GET /api/approvals/{id}` (not in the document): an approval that the service holds, after waiting for a change for
   * at most 30 seconds. `reply` is the answer of the stored call once it is `done`.
   */
  async getApproval(
    id: string,
    { waitSeconds }: { readonly waitSeconds?: number | undefined } = {},
    options?: CallOptions,
  ): Promise<{ readonly approval: approvals.Approval; readonly reply: ExecuteReply | undefined }> {
    const path = `/api/approvals/${encodeSegment(id, "id")}`;
    const query = {
      wait: waitSeconds === undefined ? undefined : capLimit(waitSeconds, approvals.MAX_APPROVAL_WAIT_SECONDS),
    };
    const { approval, result } = await this.#get(approvals.approvalReplySchema, path, options, query);
    return { approval, reply: readStoredReply(result) };
  }

  /** `POST /api/approvals/{id}/cancel` (not in the document): withdraws a request; one that is decided throws. */
  async cancelApproval(id: string, options?: CallOptions): Promise<approvals.Approval> {
    const path = `/api/approvals/${encodeSegment(id, "id")}/cancel`;
    return (await this.#submit(approvals.approvalReplySchema, path, options, {})).approval;
  }

  /** `GET /api/integrations`. */
  listIntegrations(query: catalog.IntegrationQuery = {}, options?: CallOptions): Promise<catalog.IntegrationPage> {
    return this.#get(catalog.integrationPageSchema, "/api/integrations", options, { ...query });
  }

  /** `GET /api/actions`; `intent` ranks the actions. */
  listActions(query: catalog.ActionQuery, options?: CallOptions): Promise<catalog.ActionList> {
    return this.#get(catalog.actionListSchema, "/api/actions", options, { ...query });
  }

  /** `GET /api/actions/{integration_id}/{action_id}`. */
  async getAction(integrationId: string, actionId: string, options?: CallOptions): Promise<catalog.ActionDetail> {
    const path = `${encodeSegment(integrationId, "integrationId")}/${encodeSegment(actionId, "actionId")}`;
    return this.#get(catalog.actionDetailSchema, `/api/actions/${path}`, options);
  }

  /** `GET /api/search`. */
  searchCatalog(query: catalog.CatalogSearchQuery, options?: CallOptions): Promise<catalog.CatalogSearch> {
    return this.#get(catalog.catalogSearchSchema, "/api/search", options, { ...query });
  }

  /** `GET /api/flows/templates`. */
  listFlowTemplates(options?: CallOptions): Promise<flows.FlowTemplates> {
    return this.#get(flows.flowTemplatesSchema, "/api/flows/templates", options);
  }

  /** `POST /api/flows/start`. */
  startFlow(body: flows.FlowStartRequest, options?: CallOptions): Promise<flows.FlowStartReply> {
    return this.#submit(flows.flowStartReplySchema, "/api/flows/start", options, { body });
  }

  /** `GET /api/flows/{id}`: poll it to watch progress. */
  async getFlow(id: string, options?: CallOptions): Promise<flows.FlowView> {
    return this.#get(flows.flowViewSchema, `/api/flows/${encodeSegment(id, "id")}`, options);
  }

  /** `GET /api/flows`: most recent first; `limit` is 1 to 100, default 30. */
  listFlows({ limit }: { readonly limit?: number | undefined } = {}, options?: CallOptions): Promise<flows.FlowList> {
    return this.#get(flows.flowListSchema, "/api/flows", options, { limit: capLimit(limit, FLOW_PAGE.max) });
  }

  /** `POST /api/flows/{id}/approve`; without `stepKey` the current waiting step. */
  async approveFlow(id: string, body: flows.FlowApproveRequest = {}, options?: CallOptions): Promise<flows.FlowView> {
    return this.#submit(flows.flowViewSchema, `/api/flows/${encodeSegment(id, "id")}/approve`, options, { body });
  }

  /** `POST /api/flows/{id}/resume`. */
  async resumeFlow(id: string, options?: CallOptions): Promise<flows.FlowView> {
    return this.#submit(flows.flowViewSchema, `/api/flows/${encodeSegment(id, "id")}/resume`, options, {});
  }

  /** `POST /api/flows/{id}/cancel`. */
  async cancelFlow(id: string, options?: CallOptions): Promise<flows.FlowView> {
    return this.#submit(flows.flowViewSchema, `/api/flows/${encodeSegment(id, "id")}/cancel`, options, {});
  }

  /** `POST /api/mcp`: one JSON-RPC call. Its error is returned in the `error` member, not thrown. */
  callMcp(call: mcp.McpCall, options?: CallOptions): Promise<RpcResponse> {
    return mcp.callMcp(this.#transport, call, options);
  }

  /** `GET /api/mcp`. */
  getMcpListing(options?: CallOptions): Promise<McpListing> {
    return this.#get(mcpListingSchema, "/api/mcp", options);
  }

  /** The MCP server card, revalidated by its `ETag`; no key is sent. `path` chooses between its two addresses. */
  getServerCard(options?: CallOptions, path: mcp.ServerCardPath = mcp.SERVER_CARD_PATHS[0]): Promise<ServerCard> {
    return mcp.getServerCard(this.#transport, { path, cache: this.#cards }, options);
  }

  /** `POST /api/plugin/pair/start`. */
  startPairing(body: sessions.PairStartRequest = {}, options?: CallOptions): Promise<sessions.PairStartReply> {
    return this.#submit(sessions.pairStartReplySchema, "/api/plugin/pair/start", options, { body, credential: "none" });
  }

  /** `POST /api/plugin/pair/sessions/{token}/exchange`: the key is transmitted only this once. */
  exchangePairing(sessionToken: string, verifier: string, options?: CallOptions): Promise<sessions.PairExchangeReply> {
    return registration.exchangePairing(this.#transport, { sessionToken, verifier }, options);
  }

  /** Status of a pairing session where the service tells it (not in the document); otherwise undefined. */
  getPairingStatus(sessionToken: string, options?: CallOptions): Promise<string | undefined> {
    return registration.getPairingStatus(this.#transport, sessionToken, options);
  }

  /** Confirms that the key is stored, for services that wait for it (not in the document); 404 and 405 are ignored. */
  finalizePairing(sessionToken: string, verifier: string, options?: CallOptions): Promise<void> {
    return registration.finalizePairing(this.#transport, { sessionToken, verifier }, options);
  }

  /** `POST /api/plugin/identity` (not in the document): the proof that the service knows a key; no key is sent. */
  askIdentity(body: identity.IdentityRequest, options?: CallOptions): Promise<identity.IdentityReply> {
    return this.#submit(identity.identityReplySchema, identity.IDENTITY_PATH, options, { body, credential: "none" });
  }

  /** `POST /api/installer/bootstrap-sessions`. */
  startBootstrap(
    body: Readonly<Record<string, unknown>> = {},
    options?: CallOptions,
  ): Promise<sessions.BootstrapStartReply> {
    const path = "/api/installer/bootstrap-sessions";
    return this.#submit(sessions.bootstrapStartReplySchema, path, options, { body, credential: "none" });
  }

  /** Polls the `poll_url` of a bootstrap session, which must be below the base URL. */
  pollBootstrap(pollUrl: string, options?: CallOptions): Promise<sessions.BootstrapPollReply> {
    return registration.pollBootstrap(this.#transport, pollUrl, options);
  }

  /** Closes the connections of this client once the running calls have ended. A given `dispatcher` is left open. */
  async close(): Promise<void> {
    this.#closing ??= this.#ownDispatcher?.close();
    await this.#closing;
  }
}

/** A page limit that the service accepts; undefined leaves the choice to the service. */
function capLimit(limit: number | undefined, max: number): number | undefined {
  return limit === undefined || Number.isNaN(limit) ? undefined : Math.min(Math.max(Math.trunc(limit), 1), max);
}
