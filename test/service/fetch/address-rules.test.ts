import { describe, expect, it } from "vitest";
import { isPublicAddress, isPublicHost } from "../../../src/service/fetch/address-rules.ts";
import { verifies } from "../../contract/verifies.ts";

/** The host of a URL as people and attackers write it. */
const HOSTILE = [
  "127.0.0.1",
  "127.1",
  "127.0.1",
  "127.255.255.254",
  "2130706433",
  "017700000001",
  "0177.0.0.1",
  "0x7f000001",
  "0x7f.1",
  "0x7f.0x0.0x0.0x1",
  "127.0.0.1.",
  "１２７.０.０.１",
  "①②⑦.⓪.⓪.①",
  "0",
  "0.0.0.0",
  "0.1.2.3",
  "10.0.0.1",
  "10.255.255.255",
  "012.1.2.3",
  "100.64.0.1",
  "100.100.100.200",
  "168.63.129.16",
  "169.254.169.254",
  "2852039166",
  "0xa9fea9fe",
  "0251.0376.0251.0376",
  "172.16.0.1",
  "172.31.255.255",
  "192.0.0.192",
  "192.0.2.1",
  "192.88.99.1",
  "192.168.0.1",
  "192.168.1",
  "3232235777",
  "198.18.0.1",
  "198.19.255.255",
  "198.51.100.1",
  "203.0.113.1",
  "224.0.0.1",
  "239.255.255.250",
  "240.0.0.1",
  "255.255.255.255",
  "[::]",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[::127.0.0.1]",
  "[::7f00:1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[0:0:0:0:0:ffff:7f00:1]",
  "[::ffff:10.0.0.1]",
  "[::ffff:169.254.169.254]",
  "[::ffff:0:127.0.0.1]",
  "[64:ff9b::127.0.0.1]",
  "[64:ff9b::808:808]",
  "[64:ff9b:1::1]",
  "[100::1]",
  "[2001::1]",
  "[2001:0:4136:e378:8000:63bf:3fff:fdd2]",
  "[2001:2::1]",
  "[2001:10::1]",
  "[2001:20::1]",
  "[2001:db8::1]",
  "[2002:7f00:1::]",
  "[2002:a00:1::1]",
  "[3fff::1]",
  "[5f00::1]",
  "[fc00::1]",
  "[fd00:ec2::254]",
  "[fe80::1]",
  "[febf::1]",
  "[fec0::1]",
  "[ff02::1]",
  "[4000::1]",
  "localhost",
  "LOCALHOST",
  "localhost.",
  "localhost..",
  "foo.localhost",
  "foo.localhost.",
  "localhost.localdomain",
  "printer.local",
  "printer.local.",
  "metadata.google.internal",
  "nas.lan",
  "router.home.arpa",
  "intranet",
  "a.b.onion",
];

const PUBLIC = [
  "8.8.8.8",
  "1.1.1.1",
  "134744072",
  "172.15.255.255",
  "172.32.0.1",
  "100.63.255.255",
  "223.255.255.255",
  "[2606:4700:4700::1111]",
  "[2a00:1450:4001:81b::200e]",
  "[2001:4860:4860::8888]",
  "[::ffff:8.8.8.8]",
  "example.org",
  "example.org.",
  "localhost.example.org",
  "local.example",
  "notlocal.com",
  "bücher.example",
];

/** What URL parsing makes of a host; undefined when it refuses it. */
const parseHost = (host: string) => URL.parse(`https://${host}/`)?.hostname;

describe("isPublicHost", () => {
  it("has no fewer literals than the attacks that are known", () => {
    verifies("files.url-private-refused");
    expect(HOSTILE.length).toBeGreaterThanOrEqual(58);
  });

  it.each(HOSTILE)("refuses %s", (host) => {
    const parsed = parseHost(host);
    expect(parsed === undefined || !isPublicHost(parsed)).toBe(true);
  });

  it.each(PUBLIC)("accepts %s", (host) => {
    expect(isPublicHost(parseHost(host) ?? "")).toBe(true);
  });
});

describe("isPublicAddress", () => {
  it.each(["", "example.org", "[::1]", "fe80::1%eth0", "2606:4700::1%eth0", "8.8.8.8 ", "8.8.8", "0x8.8.8.8", "1e1"])(
    "refuses %j, which is no plain address",
    (text) => {
      expect(isPublicAddress(text)).toBe(false);
    },
  );

  it("judges a mapped address by what is inside, however it is written", () => {
    expect(isPublicAddress("::ffff:1.1.1.1")).toBe(true);
    expect(isPublicAddress("::FFFF:0101:0101")).toBe(true);
    expect(isPublicAddress("::ffff:192.168.0.1")).toBe(false);
    expect(isPublicAddress("0:0:0:0:0:FFFF:C0A8:1")).toBe(false);
  });

  it("has closed edges", () => {
    for (const address of [
      "9.255.255.255",
      "11.0.0.0",
      "128.0.0.0",
      "126.255.255.255",
      "169.253.255.255",
      "169.255.0.0",
    ])
      expect(isPublicAddress(address), address).toBe(true);
    for (const address of ["10.0.0.0", "127.255.255.255", "169.254.0.0", "169.254.255.255", "1fff::1", "4000::"])
      expect(isPublicAddress(address), address).toBe(false);
  });
});
