import type { Dispatcher } from "undici";
import type { ActionDetail, ActionList, CatalogSearch, IntegrationPage } from "../wire/catalog.ts";
import type { CanonicalExecuteRequest, ExecutionSummary, ToolExecuteRequest } from "../wire/execution.ts";
import type { IngestReply } from "../wire/file.ts";
import type {
  FlowApproveRequest,
  FlowList,
  FlowStartReply,
  FlowStartRequest,
  FlowTemplates,
  FlowView,
} from "../wire/flow.ts";
import type { McpListing, RpcResponse, ServerCard } from "../wire/mcp.ts";
import type {
  BootstrapPollReply,
  BootstrapStartReply,
  PairExchangeReply,
  PairStartReply,
  PairStartRequest,
} from "../wire/registration.ts";
import type { Tool, ToolList, ToolSearch } from "../wire/tool.ts";
import type * as catalog from "./catalog.ts";
import { type ClientCredential, readClientOptions, type SvcClientOptions } from "./client-options.ts";
import { createDispatcher } from "./create-dispatcher.ts";
import type * as executions from "./executions.ts";
import * as flows from "./flows.ts";
import * as ingest from "./ingest.ts";
import * as mcp from "./mcp.ts";
import { createMcpAccess } from "./mcp-access.ts";
import * as registration from "./registration.ts";
import type { RequestBody } from "./request.ts";
import { createKeyAccess, type ToolAccess } from "./tool-access.ts";
import type * as tools from "./tools.ts";
import { type CallOptions, createTransport, type Transport } from "./transport.ts";

/**
 * The API of the document, one method per endpoint. Each method answers with the parsed resource and throws
 * {@link SvcError}; only the execute methods return failures as values, because those are outcomes to plan for.
 * With an OAuth sign-in instead of a key, tools are found and run through the MCP endpoint; what needs a key throws
 * `credentials_missing`, and nothing is sent.
 *
 * @example
 * const client = new SvcClient({ baseUrl: "http://127.0.0.1:8790", apiKey });
 * const { tools } = await client.listTools({ integration: "drive" });
 */
export class SvcClient {
  /** Origin and path, no trailing slash. */
  readonly baseUrl: string;
  /** Non-secret name of base URL and key or sign-in: 16 hex digits, or `anonymous` without either. */
  readonly principal: string;
  /** What calls are made with. With `oauth` the tools are reached through the MCP endpoint. */
  readonly credential: ClientCredential;
  readonly #transport: Transport;
  readonly #tools: ToolAccess;
  readonly #ownDispatcher: Dispatcher | undefined;
  readonly #cards: mcp.CardCache = new Map();
  #closing: Promise<void> | undefined;

  /** @throws SvcError `invalid_config` naming the wrong setting */
  constructor(options: SvcClientOptions) {
    const settings = readClientOptions(options);
    this.baseUrl = settings.baseUrl;
    this.principal = settings.principal;
    this.credential = settings.credential;
    const dispatcher = options.dispatcher ?? createDispatcher(this.baseUrl, options.proxy);
    this.#ownDispatcher = options.dispatcher === undefined ? dispatcher : undefined;
    this.#transport = createTransport({ ...settings, dispatcher });
    this.#tools = this.credential === "oauth" ? createMcpAccess(this.#transport) : createKeyAccess(this.#transport);
  }

  /** `GET /api/tools`: sorted by integration, then name, without schemas. The last entry may be a truncation notice. */
  listTools(query: tools.ListToolsQuery = {}, options?: CallOptions): Promise<ToolList> {
    return this.#tools.listTools(query, options);
  }

  /** `GET /api/tools/search`. */
  searchTools(query: tools.SearchToolsQuery, options?: CallOptions): Promise<ToolSearch> {
    return this.#tools.searchTools(query, options);
  }

  /** `GET /api/tools/{name}`: with the complete schema. Unknown: `service_failure` with status 404. */
  describeTool(name: string, options?: CallOptions): Promise<Tool> {
    return this.#tools.describeTool(name, options);
  }

  /**
   * `POST /api/tools/{name}/execute`. Never repeated unless it provably never left; `sent` of a thrown error tells.
   * A {@link RequestBody} streams its bytes, for requests with files.
   */
  executeTool(
    name: string,
    body: ToolExecuteRequest | RequestBody,
    options?: CallOptions,
  ): Promise<executions.ExecuteReply> {
    return this.#tools.executeTool({ name, body }, options);
  }

  /** `POST /api/files/ingest`, at the address and with the token of an upload hint; never sends the API key. */
  ingestFile(request: ingest.IngestRequest, options?: CallOptions): Promise<IngestReply> {
    return ingest.ingestFile(this.#transport, request, options);
  }

  /** `POST /api/executions`. Never repeated unless it provably never left, also with an `idempotency_key`. */
  execute(body: CanonicalExecuteRequest, options?: CallOptions): Promise<executions.ExecuteReply> {
    return this.#tools.execute(body, options);
  }

  /** `GET /api/executions/{id}`. */
  getExecution(id: string, options?: CallOptions): Promise<ExecutionSummary> {
    return this.#tools.getExecution(id, options);
  }

  /** `GET /api/integrations`. */
  listIntegrations(query: catalog.ListIntegrationsQuery = {}, options?: CallOptions): Promise<IntegrationPage> {
    return this.#tools.listIntegrations(query, options);
  }

  /** `GET /api/actions`. */
  listActions(query: catalog.ListActionsQuery, options?: CallOptions): Promise<ActionList> {
    return this.#tools.listActions(query, options);
  }

  /** `GET /api/actions/{integration_id}/{action_id}`. */
  getAction(integrationId: string, actionId: string, options?: CallOptions): Promise<ActionDetail> {
    return this.#tools.getAction({ integrationId, actionId }, options);
  }

  /** `GET /api/search`. */
  searchCatalog(query: catalog.SearchCatalogQuery, options?: CallOptions): Promise<CatalogSearch> {
    return this.#tools.searchCatalog(query, options);
  }

  /** `GET /api/flows/templates`. */
  listFlowTemplates(options?: CallOptions): Promise<FlowTemplates> {
    return flows.listFlowTemplates(this.#transport, options);
  }

  /** `POST /api/flows/start`. */
  startFlow(body: FlowStartRequest, options?: CallOptions): Promise<FlowStartReply> {
    return flows.startFlow(this.#transport, body, options);
  }

  /** `GET /api/flows/{id}`: poll it to watch progress. */
  getFlow(id: string, options?: CallOptions): Promise<FlowView> {
    return flows.getFlow(this.#transport, id, options);
  }

  /** `GET /api/flows`: most recent first; `limit` is 1 to 100, default 30. */
  listFlows(query: { readonly limit?: number | undefined } = {}, options?: CallOptions): Promise<FlowList> {
    return flows.listFlows(this.#transport, query, options);
  }

  /** `POST /api/flows/{id}/approve`; without `stepKey` the current waiting step. */
  approveFlow(id: string, body: FlowApproveRequest = {}, options?: CallOptions): Promise<FlowView> {
    return flows.moveFlow(this.#transport, { id, verb: "approve", body }, options);
  }

  /** `POST /api/flows/{id}/resume`. */
  resumeFlow(id: string, options?: CallOptions): Promise<FlowView> {
    return flows.moveFlow(this.#transport, { id, verb: "resume" }, options);
  }

  /** `POST /api/flows/{id}/cancel`. */
  cancelFlow(id: string, options?: CallOptions): Promise<FlowView> {
    return flows.moveFlow(this.#transport, { id, verb: "cancel" }, options);
  }

  /** `POST /api/mcp`: one JSON-RPC call. Its error is returned in the `error` member, not thrown. */
  callMcp(call: mcp.McpCall, options?: CallOptions): Promise<RpcResponse> {
    return mcp.callMcp(this.#transport, call, options);
  }

  /** `GET /api/mcp`. */
  getMcpListing(options?: CallOptions): Promise<McpListing> {
    return mcp.getMcpListing(this.#transport, options);
  }

  /** The MCP server card, revalidated by its `ETag`. `path` chooses between its two addresses. */
  getServerCard(options?: CallOptions, path: mcp.ServerCardPath = mcp.SERVER_CARD_PATHS[0]): Promise<ServerCard> {
    return mcp.getServerCard(this.#transport, { path, cache: this.#cards }, options);
  }

  /** `POST /api/plugin/pair/start`. */
  startPairing(body: PairStartRequest = {}, options?: CallOptions): Promise<PairStartReply> {
    return registration.startPairing(this.#transport, body, options);
  }

  /** `POST /api/plugin/pair/sessions/{token}/exchange`: the key is transmitted only this once. */
  exchangePairing(sessionToken: string, verifier: string, options?: CallOptions): Promise<PairExchangeReply> {
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

  /** `POST /api/installer/bootstrap-sessions`. */
  startBootstrap(body: Readonly<Record<string, unknown>> = {}, options?: CallOptions): Promise<BootstrapStartReply> {
    return registration.startBootstrap(this.#transport, body, options);
  }

  /** Polls the `poll_url` of a bootstrap session, which must be below the base URL. */
  pollBootstrap(pollUrl: string, options?: CallOptions): Promise<BootstrapPollReply> {
    return registration.pollBootstrap(this.#transport, pollUrl, options);
  }

  /** Closes the connections of this client once the running calls have ended. A given `dispatcher` is left open. */
  async close(): Promise<void> {
    this.#closing ??= this.#ownDispatcher?.close();
    await this.#closing;
  }
}

/** @throws SvcError `invalid_config` with field `apiKey` for a key no header can carry */
