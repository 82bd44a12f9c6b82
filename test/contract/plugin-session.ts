import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApprovalRequest } from "../../src/plugin/calls/ask/request.ts";
import type { ToolOutcome } from "../../src/plugin/calls/outcome.ts";
import { createToolSession, type SessionSettings, type ToolSession } from "../../src/plugin/calls/session.ts";
import { SvcClient } from "../../src/plugin/client/client.ts";

/** The plugin on top of a running service, with a human who says yes unless told otherwise. */
export interface PluginSession {
  readonly session: ToolSession;
  /** Media folder of the plugin. */
  readonly media: string;
  /** What the human was shown. */
  readonly shown: ApprovalRequest[];
  /** Milliseconds of each wait the plugin asked for. */
  readonly waits: number[];
  /** Calls `probe_<action>` with a fresh call id. */
  call(action: string, args: Record<string, unknown>): Promise<ToolOutcome>;
  close(): Promise<void>;
}

/** Opens a session; `settings.approve` replaces the human. */
export async function openPluginSession(
  service: { readonly url: string; readonly apiKey: string },
  settings: SessionSettings = {},
): Promise<PluginSession> {
  const media = await mkdtemp(join(tmpdir(), "svc-contract-media-"));
  const shown: ApprovalRequest[] = [];
  const waits: number[] = [];
  const client = new SvcClient({ baseUrl: service.url, apiKey: service.apiKey, sleep: async () => {} });
  const session = await createToolSession({
    client,
    mediaRoots: [media],
    approve: async (request) => {
      shown.push(request);
      return { type: "approve", id: request.id, fingerprint: request.fingerprint };
    },
    sleep: async (ms) => {
      waits.push(ms);
    },
    ...settings,
  });
  let calls = 0;
  return {
    session,
    media,
    shown,
    waits,
    call(action, args) {
      calls += 1;
      return session.call({ callId: `call-${calls}`, toolName: `probe_${action}`, arguments: args });
    },
    async close() {
      await session.close();
      await client.close();
      await rm(media, { recursive: true, force: true });
    },
  };
}
