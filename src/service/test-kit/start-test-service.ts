import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseExactly } from "../../shared/base/exact-number.ts";
import type { SideEffectLevel } from "../../shared/wire/catalog.ts";
import type { KeyScopes } from "../../shared/wire/key-scopes.ts";
import type { Service } from "../create-service.ts";
import type { McpFeatures } from "../mcp/mcp-features.ts";
import { openService } from "../open-service.ts";
import type { ServiceOptions } from "../service-options.ts";
import type { ExecutionRow } from "../store/schema.ts";
import { decideAsOwner } from "./decide-as-owner.ts";

/** One write that reached a provider. */
interface Effect {
  readonly executionId: string;
  readonly toolName: string;
  readonly connectionId: string;
  readonly level: Exclude<SideEffectLevel, "read">;
  /** File fields hold storage keys. */
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly status: "started" | "succeeded" | "failed";
}

/** A service for one test. */
export interface TestService {
  readonly url: string;
  readonly service: Service;
  readonly dataDir: string;
  /** A live key. */
  readonly apiKey: string;
  /** A further one, limited to `scopes`. Default: not limited. */
  createKey(label?: string, scopes?: KeyScopes): Promise<string>;
  /** Executed writes, oldest first, also failed and unfinished ones. */
  effects(): Promise<Effect[]>;
  /** Signs in as the owner and presses a button on the approval page, as a browser would. */
  decide(pairUrl: string, decision?: "approve" | "decline"): Promise<void>;
  /** Stops the service and removes its data folder, unless `dataDir` was given. */
  close(): Promise<void>;
}

/** What a test gives its service. */
export interface TestServiceOptions extends Partial<ServiceOptions> {
  /** More tools, prompts and resources for the MCP endpoint, beside the service's own. Default: none. */
  readonly mcpExtras?: McpFeatures;
}

/** Starts the real service on a free port and a temporary data folder. */
export async function startTestService({ mcpExtras, ...options }: TestServiceOptions = {}): Promise<TestService> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), "svc-test-")));
  const defaults = await testDefaults.forFolder?.(dataDir);
  const open = await openService({ ...defaults, ...options, dataDir, port: options.port ?? 0 }, mcpExtras);
  const { url, signInUrl, connections, runningCalls } = open;
  const createKey = async (label = "Test device", scopes: KeyScopes = {}) => {
    const { apiKey, apiKeyId } = await open.keys.issue({ accountId: open.accountId, label, client: null });
    await open.grants.write(apiKeyId, scopes);
    return apiKey;
  };
  const close = async () => {
    await open.close();
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
  };
  return {
    url,
    service: {
      url,
      listeningOn: open.listeningOn,
      dataDir: open.dataDir,
      signInUrl,
      connections,
      runningCalls,
      close: open.close,
    },
    dataDir: open.dataDir,
    apiKey: await createKey(),
    createKey,
    decide: async (pairUrl, decision = "approve") => decideAsOwner({ signInUrl: await signInUrl(), pairUrl, decision }),
    async effects() {
      const rows = await open.store
        .selectFrom("executions")
        .selectAll()
        .where("side_effect_level", "!=", "read")
        .orderBy("started_at")
        .execute();
      return rows.flatMap(toEffect);
    },
    close,
  };
}

function toEffect(row: ExecutionRow): Effect[] {
  const { side_effect_level: level, status } = row;
  if (level === "read" || status === "refused") return [];
  return [
    {
      executionId: row.id,
      toolName: row.tool_name,
      connectionId: row.connection_id,
      level,
      arguments: parseExactly(row.arguments) as Record<string, unknown>,
      status,
    },
  ];
}

/** Options of every test service that its test does not give itself; set by a suite that runs tests on another store. */
export const testDefaults: { forFolder?: (dataDir: string) => Promise<Partial<ServiceOptions>> } = {};
