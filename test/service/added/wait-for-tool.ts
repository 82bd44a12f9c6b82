import { expect, vi } from "vitest";
import { call } from "../http-calls.ts";

/** Waits until a running service offers a tool of an app that another process, or the owner's command, has added. */
export async function waitForTool(service: { url: string; apiKey: string }, tool: string): Promise<void> {
  const look = () => call(`${service.url}/api/tools/${encodeURIComponent(tool)}`, { key: service.apiKey });
  await vi.waitFor(async () => expect((await look()).status).toBe(200), { timeout: 30_000, interval: 200 });
}
