import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { SvcClient } from "../../../src/plugin/client/client.ts";
import { readGolden } from "../../contract/read-golden.ts";
import { catchError, type RecordingServer, startRecordingServer } from "./recording-server.ts";

let service: RecordingServer;
let proxyUrl: string;
let asked: string[];
const cleanups: (() => unknown)[] = [];

beforeEach(async () => {
  service = await startRecordingServer(() => ({ json: readGolden("resources/tool-list-truncated") }));
  asked = [];
  const proxy = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.end(JSON.stringify(readGolden("resources/tool-list-truncated")));
  });
  proxy.on("connect", (request, socket) => {
    asked.push(`CONNECT ${request.url}`);
    const { port } = new URL(service.url);
    const upstream = connect(Number(port), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
    });
    socket.on("error", () => upstream.destroy());
    upstream.on("error", () => socket.destroy());
    cleanups.push(() => upstream.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  cleanups.push(() => proxy.closeAllConnections());
  cleanups.push(() => proxy.close());
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const clean of cleanups.splice(0).reverse()) await clean();
  await service.close();
});

function open(options: Partial<ConstructorParameters<typeof SvcClient>[0]>): SvcClient {
  const base = { baseUrl: "http://svc.invalid", allowInsecure: true, apiKey: "k", sleep: async () => {} };
  const client = new SvcClient({ ...base, ...options });
  cleanups.push(() => client.close());
  return client;
}

test("a given proxy carries the calls", async () => {
  await open({ proxy: { httpProxy: proxyUrl } }).listTools();
  expect(asked).toHaveLength(1);
  expect(asked[0]).toContain("svc.invalid");
});

test("hosts of noProxy are reached directly", async () => {
  const client = open({ proxy: { httpProxy: proxyUrl, noProxy: "svc.invalid" } });
  expect(await catchError(() => client.listTools())).toMatchObject({ code: "unreachable", sent: false });
  expect(asked).toEqual([]);
});

test("a loopback service is never proxied", async () => {
  await open({ baseUrl: service.url, proxy: { httpProxy: proxyUrl } }).listTools();
  expect(asked).toEqual([]);
  expect(service.requests).toHaveLength(1);
});

test("the environment is not read", async () => {
  for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"]) vi.stubEnv(name, proxyUrl);
  for (const proxy of [undefined, {}]) {
    const error = await catchError(() => open({ proxy }).listTools());
    expect(error).toMatchObject({ code: "unreachable", sent: false });
  }
  expect(asked).toEqual([]);
});

test("a proxy that is no address is refused without being repeated", () => {
  let error: unknown;
  try {
    open({ proxy: { httpProxy: "http://user:hunter2@[bad" } });
  } catch (caught) {
    error = caught;
  }
  expect(error).toMatchObject({ code: "invalid_config", field: "proxy" });
  expect(String(error)).not.toContain("hunter2");
});
