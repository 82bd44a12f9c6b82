import { approveAll, openFaultSession } from "./fault-lab.ts";

/** One call of the plugin that is to be killed. */
export interface DoomedCall {
  readonly url: string;
  readonly apiKey: string;
  readonly stateDir: string;
  readonly callId: string;
  readonly toolName: string;
  readonly idempotencyKeys: "off" | "when_known";
  /** True when the human never answers. */
  readonly isLeftWaiting: boolean;
}

/** Makes all calls of its argument (JSON) at once, prints what each comes to, and lives until it is killed. */
const calls = JSON.parse(process.argv[2] ?? "[]") as DoomedCall[];
setInterval(() => {}, 60_000);
for (const { url, apiKey, stateDir, callId, toolName, idempotencyKeys, isLeftWaiting } of calls) {
  const { session } = await openFaultSession(
    { url, apiKey },
    {
      stateDir,
      idempotencyKeys,
      approve: (...asked) => {
        console.log(`asked ${callId}`);
        return isLeftWaiting ? new Promise(() => {}) : approveAll(...asked);
      },
    },
  );
  void session
    .call({ callId, toolName, arguments: { text: callId } })
    .then(({ status }) => console.log(`${status} ${callId}`));
}
