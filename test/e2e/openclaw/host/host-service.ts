import { builtInIntegrations } from "../../../../src/apps/built-in.ts";
import type { ServiceOptions } from "../../../../src/service/service-options.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { createProbe, type Probe } from "../../../contract/probe-integration.ts";
import { findFreePort } from "../../../service/free-port.ts";
import { createLab, type Lab } from "../../../service/lab-integration.ts";

/** The service that a host is paired with: the built-in apps and two for tests. */
export interface HostService extends TestService {
  /** Where it listens, whatever its address says. */
  readonly port: number;
  /** App that records what reaches it; connected. */
  readonly probe: Probe;
  /** App that fails and waits when told to; connected. */
  readonly lab: Lab;
}

/** Starts the service on a data folder; a first start connects all apps. */
export async function startHostService(options: Partial<ServiceOptions>): Promise<HostService> {
  const probe = createProbe();
  const lab = createLab();
  const integrations = [...builtInIntegrations, probe.integration, lab.integration];
  const port = await findFreePort();
  const service = await startTestService({ port, integrations, ...options });
  const { connections } = service.service;
  for (const { slug, name } of [probe.integration, lab.integration]) {
    if ((await connections.list(slug)).length > 0) continue;
    await connections.add({ integration: slug, label: `${name} account`, settings: {}, scopes: [`${slug}.write`] });
  }
  return { ...service, port, probe, lab };
}
