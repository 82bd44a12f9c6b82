import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readCallerAddress, readTrustedProxies } from "../../../src/service/http/caller-address.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { call } from "../http-calls.ts";
import { openBrowser } from "./pages/browser.ts";

const trusted = readTrustedProxies(["127.0.0.1", "::1", "10.0.0.0/8", "fd00::/8"]);
const read = (peer: string | undefined, headers: Record<string, string>) =>
  readCallerAddress({ socket: { remoteAddress: peer }, headers }, trusted);
const xff = (value: string) => ({ "x-forwarded-for": value });
const forwarded = (value: string) => ({ forwarded: value });

describe("the address of a caller", () => {
  test.each<[string, string | undefined, Record<string, string>, string]>([
    ["no proxy", "192.0.2.7", {}, "192.0.2.7"],
    ["a stranger who says something", "192.0.2.7", xff("198.51.100.1"), "192.0.2.7"],
    ["a stranger who says it in the other header", "192.0.2.7", forwarded("for=198.51.100.1"), "192.0.2.7"],
    ["a neighbour of a trusted block", "11.0.0.1", xff("198.51.100.1"), "11.0.0.1"],
    ["a socket that is gone", undefined, xff("198.51.100.1"), "unknown"],
    ["a trusted proxy", "127.0.0.1", xff("198.51.100.1"), "198.51.100.1"],
    ["a trusted proxy on a socket for both kinds", "::ffff:127.0.0.1", xff("198.51.100.1"), "198.51.100.1"],
    ["a trusted proxy that says nothing", "127.0.0.1", {}, "127.0.0.1"],
    ["what its caller claimed before", "127.0.0.1", xff("203.0.113.9, 198.51.100.1"), "198.51.100.1"],
    ["a chain of trusted proxies", "::1", xff("203.0.113.9, 198.51.100.1, 10.1.2.3, fd00::4"), "198.51.100.1"],
    ["trusted proxies alone", "127.0.0.1", xff("10.1.2.3"), "10.1.2.3"],
    ["a hop without an address", "127.0.0.1", xff("198.51.100.1, unknown"), "127.0.0.1"],
    ["a name in front of an address", "127.0.0.1", xff("<b>, 198.51.100.1"), "198.51.100.1"],
    ["markup", "127.0.0.1", xff("<script>"), "127.0.0.1"],
    ["an address with a port", "127.0.0.1", xff("198.51.100.1:4711"), "198.51.100.1"],
    ["IPv6 with a port", "127.0.0.1", xff("[2001:DB8::1]:4711"), "2001:db8::1"],
    ["IPv6 with a zone", "127.0.0.1", xff("fe80::1%eth0"), "127.0.0.1"],
    ["the newer header", "127.0.0.1", forwarded('for="[2001:db8::1]:80";proto=https;by=10.0.0.1'), "2001:db8::1"],
    [
      "the newer header with a claim",
      "127.0.0.1",
      forwarded("for=203.0.113.9, For=198.51.100.1;host=x"),
      "198.51.100.1",
    ],
    ["the newer header with a hidden name", "127.0.0.1", forwarded("for=_secret"), "127.0.0.1"],
    ["the newer header without a caller", "127.0.0.1", forwarded("proto=https"), "127.0.0.1"],
    ["both, equal", "::1", { ...xff("198.51.100.1"), ...forwarded("for=198.51.100.1") }, "198.51.100.1"],
    ["both, one of them the caller's", "::1", { ...xff("198.51.100.1"), ...forwarded("for=203.0.113.9") }, "::1"],
  ])("%s", (_what, peer, headers, address) => {
    expect(read(peer, headers)).toBe(address);
  });

  test.each(["localhost", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8/8", "fe80::1%eth0", "*", "", "10.0.0.0/-1"])(
    "%j is no proxy",
    (entry) => {
      expect(() => readTrustedProxies([entry])).toThrow(`trustProxy: "${entry}" is not an IP address`);
    },
  );
});

describe.each([
  ["a trusted proxy", ["127.0.0.1"], "198.51.100.1"],
  ["a proxy that nobody named", [], "127.0.0.1"],
])("behind %s", (_what, trustProxy, address) => {
  let service: TestService;
  const lines: string[] = [];
  beforeAll(async () => {
    const log = ({ message }: { message: string }) => void lines.push(message);
    service = await startTestService({ integrations: [], trustProxy, accessLog: true, log });
  });
  afterAll(() => service.close());

  test("the pages and the lines for the operator show the address of the caller, or that of the proxy", async () => {
    const headers = xff("203.0.113.9, 198.51.100.1");
    const owner = openBrowser();
    await owner.open(await service.service.signInUrl(), headers);
    const path = "/api/installer/bootstrap-sessions";
    const asked = await call(`${service.url}${path}`, { method: "POST", headers, body: "{}" });
    expect((await owner.open(asked.json.approval_url)).text).toContain(`<dt>Asked from</dt><dd>${address}</dd>`);
    expect((await owner.open(`${service.url}/sessions`)).text).toContain(` from ${address} · last seen`);
    expect(lines.find((line) => line.includes("signed in by a link"))).toMatch(new RegExp(` from ${address}$`));
    expect(lines.find((line) => line.startsWith(`POST ${path} 200 `))).toMatch(new RegExp(` ms ${address}$`));
  });
});
