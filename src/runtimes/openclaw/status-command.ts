import { type CommandAnswer, EXIT } from "./command-answer.ts";
import { diagnose } from "./diagnose.ts";
import { formatFindings, isHealthy } from "./finding.ts";
import type { HostConfig } from "./host-config.ts";
import type { SvcHost } from "./svc-host.ts";

/** Whether everything works, and if not, why and what to do. */
export async function showStatus(
  host: SvcHost,
  options: { readonly config: HostConfig; readonly signal?: AbortSignal | undefined },
): Promise<CommandAnswer> {
  const diagnosis = await diagnose(host, options);
  const { findings, key } = diagnosis;
  const ok = isHealthy(findings);
  const exit = ok ? EXIT.ok : key === undefined ? EXIT.notPaired : EXIT.failed;
  return { exit, text: formatFindings(findings), data: { ok, ...diagnosis } };
}
