import type { Access } from "../access/access-view.ts";
import type { Rules } from "../access/rules.ts";
import type { SourceStore } from "../added/source-store.ts";
import type { Approvals } from "../approvals/approvals.ts";
import type { ApiKeys } from "../auth/api-keys.ts";
import type { FirstSteps } from "../auth/first-steps.ts";
import type { Grants } from "../auth/grants.ts";
import type { OwnerSessions } from "../auth/owner-sessions.ts";
import type { Passkeys } from "../auth/passkeys/passkeys.ts";
import type { People } from "../auth/people.ts";
import type { Bootstrap } from "../auth/registration/bootstrap.ts";
import type { Pairing } from "../auth/registration/pairing.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Connections } from "../connections/connection.ts";
import type { Connector } from "../connections/connector.ts";
import type { KeptSecrets } from "../connections/kept-secrets.ts";
import type { AccessTokens } from "../connections/sign-in/access-tokens.ts";
import type { ProviderSignIns } from "../connections/sign-in/provider-sign-ins.ts";
import type { Activity } from "../executions/activity.ts";
import type { CanonicalExecutions } from "../executions/canonical-executions.ts";
import type { Delays } from "../executions/delays.ts";
import type { Executor } from "../executions/execute-tool.ts";
import type { UndoRecords } from "../executions/undo/undo-records.ts";
import type { UrlFiles } from "../fetch/url-files.ts";
import type { BlobStore } from "../files/blob-store.ts";
import type { IngestTokens } from "../files/ingest-tokens.ts";
import type { Flows } from "../flows/flows.ts";
import type { Watch } from "../health/health.ts";
import type { McpFeatures } from "../mcp/mcp-features.ts";
import type { ServiceMetrics } from "../metrics/service-metrics.ts";
import type { Notes } from "../notify/notes.ts";
import type { OAuth } from "../oauth/create-oauth.ts";
import type { ServiceKeys } from "../secrets/service-keys.ts";
import type { ServiceLog } from "../service-error.ts";
import type { Node } from "../store/node.ts";
import type { StoreStates } from "../store/store-states.ts";
import type { Trace } from "../telemetry/telemetry.ts";
import type { Triggers } from "../triggers/triggers.ts";
import type { TrustedProxies } from "./caller-address.ts";
import type { NewcomerLimit } from "./newcomer-limit.ts";

/** Everything the routes use. */
export interface ServiceParts {
  readonly keys: ApiKeys;
  readonly states: StoreStates;
  readonly sessions: OwnerSessions;
  readonly passkeys: Passkeys;
  readonly people: People;
  readonly firstSteps: FirstSteps;
  readonly pairing: Pairing;
  readonly bootstrap: Bootstrap;
  readonly grants: Grants;
  /** Tools and accounts of a request's caller; `catalog` and `connections` are for the owner's pages. */
  readonly access: Access;
  readonly catalog: Catalog;
  readonly connections: Connections;
  readonly connector: Connector;
  readonly accessTokens: AccessTokens;
  readonly providerSignIns: ProviderSignIns;
  readonly keptSecrets: KeptSecrets;
  /** The apps that the owner added. */
  readonly sources: Pick<SourceStore, "listMarks" | "find" | "setLevels" | "dismiss" | "put">;
  /** Makes changes of added apps take effect now; never rejects. */
  readonly refreshApps: () => Promise<boolean>;
  readonly activity: Activity;
  readonly executor: Executor;
  readonly canonical: CanonicalExecutions;
  readonly undo: Pick<UndoRecords, "findUntil">;
  readonly delays: Pick<Delays, "stop">;
  readonly rules: Rules;
  readonly approvals: Approvals;
  readonly notes: Pick<Notes, "listProblems">;
  readonly oauth: OAuth;
  readonly serviceKeys: ServiceKeys;
  /** Served at the MCP endpoint beside the tools of the service. */
  readonly mcpExtras: McpFeatures | undefined;
  readonly blobs: BlobStore;
  /** Undefined when no ingest secret is configured. */
  readonly ingestTokens: IngestTokens | undefined;
  /** Fetches files that arguments name by URL. */
  readonly urlFiles: UrlFiles;
  /** False when bytes in the `files` envelope are ignored, so that callers have to upload them. */
  readonly fileEnvelopes: boolean;
  readonly flows: Flows;
  readonly triggers: Triggers;
  /** Whether API keys may approve flows, or only the owner in the dashboard. */
  readonly flowApprovals: "api" | "dashboard";
  /** This process among those that share the store. */
  readonly node: Node;
  /** Problems of the machine or the data of this process. */
  readonly watch: Pick<Watch, "listProblems">;
  /** Undefined when no token for them is configured. */
  readonly metrics: ServiceMetrics | undefined;
  readonly metricsToken: string | undefined;
  readonly trace: Trace;
  /** True for a line about every request in the log. */
  readonly accessLog: boolean;
  /** Base URL, without a slash at the end. */
  readonly baseUrl: string;
  /** Values of the `Host` header that are answered. */
  readonly allowedHosts: ReadonlySet<string>;
  /** Proxies that are believed about the address of a caller. */
  readonly trustedProxies: TrustedProxies;
  readonly newcomers: NewcomerLimit;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: ServiceLog;
}
