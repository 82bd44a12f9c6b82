import type { Action } from "../../src/apps/port/integration.ts";
import type { Service } from "../../src/service.ts";
import { startTestService, type TestService } from "../../src/testing.ts";
import { isRecord, type RawReply, sendWithKey } from "./golden-exchange.ts";
import { createProbe, type Probe } from "./probe-integration.ts";

/** A running service whose only integration is the probe, with one healthy connection "First". */
export interface ProbeService extends TestService {
  readonly probe: Probe;
  /** Id of the connection "First". */
  readonly connectionId: string;
  /** Executes `probe_<action>` by plain JSON with a live key. */
  execute(action: string, body: unknown): Promise<RawReply>;
  /** Changes an action of the probe, and tells the store: what is kept for its old state counts no more. */
  changeAction(action: string, change: Partial<Action>): Promise<void>;
}

type ServiceOptions = NonNullable<Parameters<typeof startTestService>[0]>;

/** Starts the service with the probe connected. */
export async function startProbeService(options: ServiceOptions = {}): Promise<ProbeService> {
  const probe = createProbe();
  const service = await startTestService({ ...options, integrations: [probe.integration] });
  const connection = await addConnection(service.service, "First", { scopes: [] });
  return {
    ...service,
    probe,
    connectionId: connection.id,
    async changeAction(action, change) {
      Object.assign(probe.integration.actions.find(({ id }) => id === action) as Action, change);
      await service.service.connections.update(connection.id, { label: "First" });
    },
    execute: (action, body) =>
      sendWithKey(service.url, service.apiKey, { method: "POST", path: `/api/tools/probe_${action}/execute`, body }),
  };
}

/** Connects another account of the probe. */
export function addConnection(
  service: Service,
  label: string,
  facts: { scopes?: readonly string[]; isDefault?: boolean } = {},
): ReturnType<Service["connections"]["add"]> {
  return service.connections.add({ integration: "probe", label, settings: {}, ...facts });
}

/** The `error` object of an envelope, or an empty one. */
export function readError(reply: RawReply): Record<string, unknown> {
  return isRecord(reply.body) && isRecord(reply.body.error) ? reply.body.error : {};
}

/** A member of a reply's body. */
export function readMember(reply: RawReply, name: string): unknown {
  return isRecord(reply.body) ? reply.body[name] : undefined;
}
