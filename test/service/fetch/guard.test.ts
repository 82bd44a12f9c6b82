import { buildConnector } from "undici";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readAllowedHosts } from "../../../src/service/fetch/address-rules.ts";
import { type Network, SYSTEM_NETWORK } from "../../../src/service/fetch/guarded-connector.ts";
import { createUrlFiles } from "../../../src/service/fetch/url-files.ts";
import { createBlobStore } from "../../../src/service/files/blob-store.ts";
import { refusal } from "../../apps/run-action.ts";
import { verifies } from "../../contract/verifies.ts";
import { useTempFolder } from "../files/temp-folder.ts";
import {
  answerBy,
  createFakeInternet,
  type FakeInternet,
  redirectTo,
  useWebServers,
  type WebServer,
} from "./fake-internet.ts";

const PUBLIC = "93.184.215.14";
const folder = useTempFolder();
const serve = useWebServers();
let internet: FakeInternet;
/** Plays the public address. */
let web: WebServer;
/** Plays every address inside. */
let secret: WebServer;

beforeEach(async () => {
  internet = createFakeInternet();
  web = await serve();
  secret = await serve();
  internet.names.set("files.example.org", [[PUBLIC]]);
  internet.places.set(PUBLIC, web.port);
  for (const address of ["127.0.0.1", "10.0.0.7", "169.254.169.254", "::1", "fd00::7"])
    internet.places.set(address, secret.port);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

function fetchFile(url: string, o: { network?: Network; allow?: string[] } = {}) {
  const blobs = createBlobStore({ dir: folder(), now: () => 0 });
  const allowed = readAllowedHosts(o.allow ?? []);
  return createUrlFiles({ blobs, allowed, network: o.network ?? internet.network }).fetch(url);
}

async function expectBlocked(url: string, o: Parameters<typeof fetchFile>[1] = {}) {
  const error = await refusal(fetchFile(url, o));
  expect([error.status, error.code, error.options.type], error.message).toEqual([
    400,
    "media_url_blocked",
    "validation",
  ]);
  expect(secret.asked).toEqual([]);
  return error;
}

describe("the guard", () => {
  it("lets a public name through, looked up once and dialled at the address that was checked", async () => {
    const { staged } = await fetchFile("https://files.example.org/a.txt");
    expect(staged.size).toBe(5);
    expect(internet.lookups).toEqual(["files.example.org"]);
    expect(internet.dials).toEqual([PUBLIC]);
    await staged.discard();
  });

  it.each(["127.0.0.1", "127.1", "2130706433", "0x7f.1", "[::1]", "[::ffff:10.0.0.7]", "169.254.169.254", "[fd00::7]"])(
    "refuses the literal %s, which is never looked up",
    async (host) => {
      verifies("files.url-private-refused");
      await expectBlocked(`https://${host}/latest/meta-data/`);
      expect([internet.lookups, internet.dials]).toEqual([[], []]);
    },
  );

  it("refuses a name that leads inside, and does not say where", async () => {
    internet.names.set("inside.example.org", [["10.0.0.7"]]);
    const error = await expectBlocked("https://inside.example.org/a");
    expect(JSON.stringify([error.message, error.options])).not.toContain("10.0.0");
    expect(internet.dials).toEqual([]);
  });

  it.each([
    [[PUBLIC, "10.0.0.7"]],
    [["10.0.0.7", PUBLIC]],
    [[PUBLIC, "::1"]],
    [[PUBLIC, "::ffff:127.0.0.1"]],
    [["2606:4700::1", "fe80::1"]],
  ])("refuses a name with the addresses %j: one bad one is enough", async (addresses) => {
    internet.names.set("mixed.example.org", [addresses]);
    await expectBlocked("https://mixed.example.org/a");
    expect(internet.dials).toEqual([]);
  });

  it("gains a rebinding name nothing: every connection uses the answer that was checked", async () => {
    internet.names.set("rebind.example.org", [[PUBLIC], ["127.0.0.1"]]);
    const { staged } = await fetchFile("https://rebind.example.org/a");
    await staged.discard();
    expect(internet.lookups).toHaveLength(1);
    await expectBlocked("https://rebind.example.org/a");
    expect(internet.dials).toEqual([PUBLIC]);
  });

  it("checks the address the socket really has", async () => {
    // A connector that pays no attention to the lookup it was given.
    const careless: Network = {
      resolve: internet.network.resolve,
      buildConnector: () => (_target, callback) =>
        buildConnector({})({ hostname: "127.0.0.1", protocol: "http:", port: String(secret.port) }, callback),
    };
    await expectBlocked("https://files.example.org/a", { network: careless });
  });

  it("sits in the lookup of the real connector, under TLS too", async () => {
    const seen: string[] = [];
    const network: Network = {
      ...SYSTEM_NETWORK,
      async resolve(hostname) {
        seen.push(hostname);
        return [{ address: "127.0.0.1", family: 4 }];
      },
    };
    await expectBlocked("https://files.example.org/a", { network });
    expect(seen).toEqual(["files.example.org"]);
    await expectBlocked("https://localhost/a", { network });
    await expectBlocked("https://127.0.0.1:8443/a", { network });
    expect(seen).toHaveLength(1);
  });

  it.each([
    ["http://files.example.org/a", "media_url_invalid"],
    ["https://files.example.org:22/a", "media_url_invalid"],
    ["https://files.example.org:8080/a", "media_url_invalid"],
    ["https://someone@files.example.org/a", "media_url_invalid"],
    ["https://someone:secret@files.example.org/a", "media_url_invalid"],
    ["https://files.example.org/a\r\nx-injected: 1", "media_url_invalid"],
    ["https://files.example.org/a\tb", "media_url_invalid"],
    ["https://files.example.org/\u0000", "media_url_invalid"],
    ["https://999.1.1.1/", "media_url_invalid"],
    ["https://", "media_url_invalid"],
    [`https://files.example.org/${"a".repeat(9000)}`, "media_url_invalid"],
  ])("refuses %j as %s before any request", async (url, code) => {
    const error = await refusal(fetchFile(url));
    expect([error.status, error.code]).toEqual([400, code]);
    expect(JSON.stringify([error.message, error.options])).not.toContain("secret");
    expect(web.asked).toEqual([]);
  });

  it("takes port 8443, and sends an encoded line break as it is", async () => {
    const { staged } = await fetchFile("https://files.example.org:8443/a%0d%0ax-injected:%201");
    await staged.discard();
    expect(web.asked).toEqual(["files.example.org:8443 /a%0d%0ax-injected:%201"]);
    expect(web.headers[0]).not.toHaveProperty("x-injected");
  });

  it("asks no proxy", async () => {
    vi.stubEnv("HTTPS_PROXY", `http://127.0.0.1:${secret.port}`);
    vi.stubEnv("NODE_USE_ENV_PROXY", "1");
    const { staged } = await fetchFile("https://files.example.org/a");
    await staged.discard();
    expect(secret.asked).toEqual([]);
  });
});

describe("redirects", () => {
  it.each(["https://127.0.0.1/x", "https://169.254.169.254/x", "//localhost/x", "https://[::ffff:127.0.0.1]/x"])(
    "to %s are refused",
    async (location) => {
      web.handler = answerBy({ "/a": redirectTo(location) });
      await expectBlocked("https://files.example.org/a");
      expect(web.asked).toHaveLength(1);
    },
  );

  it("to a name that now leads inside are refused", async () => {
    internet.names.set("rebind.example.org", [[PUBLIC], ["10.0.0.7"]]);
    web.handler = answerBy({ "/a": redirectTo("https://rebind.example.org/b"), "/b": redirectTo("/c") });
    await expectBlocked("https://rebind.example.org/a");
    expect(internet.dials).toEqual([PUBLIC]);
  });

  it.each([
    ["http://files.example.org/b", "media_url_invalid"],
    ["https://u:p@files.example.org/b", "media_url_invalid"],
    ["https://files.example.org:6379/b", "media_url_invalid"],
    ["file:///etc/passwd", "media_url_failed"],
    ["gopher://files.example.org/", "media_url_failed"],
    ["https://", "media_url_failed"],
  ])("to %s are refused as %s", async (location, code) => {
    web.handler = answerBy({ "/a": redirectTo(location), "/b": (response) => response.end("b") });
    const error = await refusal(fetchFile("https://files.example.org/a"));
    expect([error.status, error.code]).toEqual([400, code]);
    expect(web.asked).toEqual(["files.example.org /a"]);
  });

  it("without a target are refused", async () => {
    web.handler = answerBy({ "/a": (response) => response.writeHead(302).end() });
    expect((await refusal(fetchFile("https://files.example.org/a"))).code).toBe("media_url_failed");
  });

  it("are followed five times, through the guard each time, with no cookie and no credentials", async () => {
    web.handler = answerBy({
      "/0": redirectTo("/1", 301),
      "/1": redirectTo("2", 302),
      "/2": redirectTo("https://files.example.org/3", 303),
      "/3": redirectTo("//files.example.org/4", 307),
      "/4": redirectTo("/5?sig=a%2Fb", 308),
      "/5?sig=a%2Fb": (response) => response.end("there"),
    });
    const file = await fetchFile("https://files.example.org/0#fragment");
    expect(file.staged.size).toBe(5);
    await file.staged.discard();
    expect(internet.lookups).toHaveLength(6);
    expect(web.headers).toHaveLength(6);
    for (const headers of web.headers) {
      expect(Object.keys(headers).sort()).toEqual(["accept", "accept-encoding", "connection", "host", "user-agent"]);
      expect(headers["accept-encoding"]).toBe("identity");
    }
  });

  it("are followed without their bodies, however long those are", async () => {
    web.handler = answerBy({
      "/a": (response) => response.writeHead(302, { location: "/b" }).write("a".repeat(100_000)),
      "/b": (response) => response.end("there"),
    });
    const { staged } = await fetchFile("https://files.example.org/a");
    expect(staged.size).toBe(5);
    await staged.discard();
  });

  it("that never end are refused after five", async () => {
    web.handler = answerBy({ "/a": redirectTo("/b"), "/b": redirectTo("/a") });
    const error = await refusal(fetchFile("https://files.example.org/a"));
    expect([error.status, error.code]).toEqual([400, "media_url_failed"]);
    expect(error.message).toContain("more than 5");
    expect(web.asked).toHaveLength(6);
  });
});

describe("the owner's allow-list", () => {
  it("opens exactly the host and port it names, over http too", async () => {
    const own = await serve();
    const allow = [`127.0.0.1:${own.port}`];
    const { staged } = await fetchFile(`http://127.0.0.1:${own.port}/a`, { allow });
    await staged.discard();
    expect(own.asked).toHaveLength(1);
    await expectBlocked(`http://127.0.0.1:${secret.port}/a`, { allow });
    await expectBlocked(`http://localhost:${own.port}/a`, { allow });
    await expectBlocked("https://127.0.0.1/a", { allow });
    expect(own.asked).toHaveLength(1);
  });

  it("does not count for a redirect that somebody else chose", async () => {
    const own = await serve();
    const allow = [`127.0.0.1:${own.port}`];
    web.handler = answerBy({ "/a": redirectTo(`http://127.0.0.1:${own.port}/private`) });
    await expectBlocked("https://files.example.org/a", { allow });
    expect(own.asked).toEqual([]);
  });

  it("lets its hosts redirect among themselves and to the public, and nowhere else", async () => {
    const [one, two] = [await serve(), await serve()];
    const allow = [`127.0.0.1:${one.port}`, `127.0.0.1:${two.port}`];
    one.handler = answerBy({
      "/two": redirectTo(`http://127.0.0.1:${two.port}/a`),
      "/out": redirectTo("https://files.example.org/a"),
      "/in": redirectTo(`http://127.0.0.1:${secret.port}/a`),
    });
    for (const path of ["two", "out"])
      await (await fetchFile(`http://127.0.0.1:${one.port}/${path}`, { allow })).staged.discard();
    expect([two.asked.length, web.asked.length]).toEqual([1, 1]);
    await expectBlocked(`http://127.0.0.1:${one.port}/in`, { allow });
  });
});
