import { expect } from "vitest";
import { call, type Reply } from "../http-calls.ts";

/** A running service, and a key for it. */
export interface Door {
  readonly url: string;
  readonly apiKey: string;
}

/** Posts JSON with the key. */
export function send({ url, apiKey }: Door, path: string, body: unknown = {}): Promise<Reply> {
  const headers = { "content-type": "application/json" };
  return call(`${url}${path}`, { method: "POST", key: apiKey, headers, body: JSON.stringify(body) });
}

/** Starts a flow; its id. */
export async function startFlow(door: Door, flowTemplate: string, input: unknown): Promise<string> {
  return (await send(door, "/api/flows/start", { flowTemplate, input })).json.flowId;
}

/** Status and steps of a flow. */
export async function readFlow({ url, apiKey }: Door, id: string) {
  const { flow, steps } = (await call(`${url}/api/flows/${id}`, { key: apiKey })).json;
  return { status: flow.status, steps };
}

/** Waits until a flow has the status. */
export async function awaitStatus(door: Door, id: string, status: string): Promise<void> {
  await expect.poll(async () => (await readFlow(door, id)).status, { timeout: 30_000 }).toBe(status);
}

/** Resumes a flow wherever it stopped, until it is completed. */
export async function awaitCompletion(door: Door, id: string): Promise<void> {
  const settle = async () => {
    const { status } = await readFlow(door, id);
    if (status === "failed") await send(door, `/api/flows/${id}/resume`);
    return status;
  };
  await expect.poll(settle, { timeout: 30_000 }).toBe("completed");
}
