import { expect, test } from "vitest";
import { checkOptions, listHosts, warnOfPlainAddress } from "../../src/service/service-options.ts";

const publicUrl = "https://svc.example.org";

test.each(["fe80::1%eth0", "::", "192.0.2.1"])(
  "a service on %s answers to its public name and to this machine",
  (host) => {
    const hosts = listHosts(checkOptions({ dataDir: "x", host, publicUrl }), 8790);
    expect([...hosts]).toEqual(["127.0.0.1:8790", "localhost:8790", "[::1]:8790", "svc.example.org"]);
  },
);

test("a service on another address of the loopback answers to that too", () => {
  expect([...listHosts(checkOptions({ dataDir: "x", host: "127.1.2.3" }), 8790)]).toContain("127.1.2.3:8790");
});

test.each([
  ["http://svc.example.org", true],
  ["http://192.0.2.1:8790", true],
  ["http://svc", true],
  ["https://svc.example.org", false],
  ["http://localhost:8790", false],
  ["http://127.0.0.1:8790", false],
  ["http://[::1]:8790", false],
  [undefined, false],
])("a service at %s is warned about: %s", async (address, isWarned) => {
  const lines: string[] = [];
  const log = ({ message }: { message: string }) => void lines.push(message);
  warnOfPlainAddress(checkOptions({ dataDir: "x", log, ...(address === undefined ? {} : { publicUrl: address }) }));
  expect(lines.length).toBe(isWarned ? 1 : 0);
  if (isWarned)
    expect(lines[0]).toMatch(/is not encrypted: keys.* in clear.*Put a proxy with TLS in front.*--public-url/);
});
