import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { startTestService, type TestService } from "../../src/testing.ts";
import { call, execute } from "./http-calls.ts";
import { createLab, type Lab } from "./lab-integration.ts";

const ACTION_MS = 60_000;

let lab: Lab;
let service: TestService;
const sockets: Socket[] = [];

beforeEach(async () => {
  lab = createLab();
  service = await startTestService({ integrations: [lab.integration], providerTimeoutMs: ACTION_MS });
  await service.service.connections.add({ integration: "lab", label: "Lab", settings: {} });
});

afterEach(async () => {
  vi.useRealTimers();
  for (const socket of sockets.splice(0)) socket.destroy();
  lab.release();
  await service.close();
});

/** Calls an action that runs until the lab releases it. */
async function beginCall() {
  const answer = execute(service, "lab_wait", { arguments: {}, confirmed: true });
  await Promise.race([lab.waiting, answer.then(({ text }) => Promise.reject(new Error(text)))]);
  return answer;
}

/** A connection on which `text` was sent, and received when the answer to another request is there. */
async function openSocket(text: string): Promise<{ socket: Socket; closed: Promise<unknown> }> {
  const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => {}).resume();
  await once(socket, "connect");
  if (text !== "") socket.write(text);
  await call(`${service.url}/health`);
  return { socket, closed: once(socket, "close") };
}

describe("a stop", () => {
  test("answers a call that takes as long as an action may", async () => {
    const answer = beginCall();
    await lab.waiting;
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const closing = service.service.close();
    await vi.advanceTimersByTimeAsync(ACTION_MS);
    lab.release();
    const { status, headers } = await answer;
    expect(status).toBe(200);
    expect(headers.connection).toBe("close");
    await closing;
  });

  test("cuts a call that takes longer, and records how it ended", async () => {
    const answer = beginCall();
    await lab.waiting;
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const closing = service.service.close();
    const cut = expect(answer).rejects.toThrow();
    await vi.advanceTimersByTimeAsync(ACTION_MS + 5_000);
    await cut;
    lab.release();
    await closing;
  });

  test("ends connections without a request at once, also while a call runs", async () => {
    const idle = [
      await openSocket(""),
      await openSocket("GET /health HT"),
      await openSocket(`GET /health HTTP/1.1\r\nHost: ${new URL(service.url).host}\r\n\r\n`),
    ];
    const answer = beginCall();
    await lab.waiting;
    const closing = service.service.close();
    await Promise.all(idle.map(({ closed }) => closed));
    lab.release();
    expect((await answer).status).toBe(200);
    await closing;
  });
});

test("a stop waits five seconds for the rest of a request, and goes on with a call", async () => {
  const head = `POST /api/plugin/pair/start HTTP/1.1\r\nHost: ${new URL(service.url).host}\r\n`;
  const { closed } = await openSocket(`${head}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{`);
  const answer = beginCall();
  await lab.waiting;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const closing = service.service.close();
  await vi.advanceTimersByTimeAsync(5_000);
  await closed;
  lab.release();
  expect((await answer).status).toBe(200);
  await closing;
});

test("counts the calls that a stop waits for", async () => {
  const { runningCalls } = service.service;
  expect(runningCalls()).toBe(0);
  const { socket } = await openSocket("");
  const body = JSON.stringify({ arguments: {}, confirmed: true });
  const head = `POST /api/tools/lab_wait/execute HTTP/1.1\r\nHost: ${new URL(service.url).host}\r\n`;
  socket.write(
    `${head}x-svc-api-key: ${service.apiKey}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  await expect.poll(runningCalls).toBe(1);
  socket.write(body);
  await lab.waiting;
  expect(runningCalls()).toBe(1);
  socket.destroy();
  await call(`${service.url}/health`);
  expect(runningCalls()).toBe(1);
  lab.release();
  await expect.poll(runningCalls).toBe(0);
});
