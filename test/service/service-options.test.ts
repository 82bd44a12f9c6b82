import { expect, test } from "vitest";
import { checkOptions, listHosts } from "../../src/service/service-options.ts";

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
