import { expect, test } from "vitest";
import { findServers, type LookupNetwork } from "../../../src/apps/mail/find-servers/find-servers.ts";
import { createMailIntegration } from "../../../src/apps/mail/mail-integration.ts";
import { createFakeInternet, redirectTo, useWebServers } from "../../service/fetch/fake-internet.ts";

/** How the servers of a mail address are found; names and web servers are played on this machine. */

const startWeb = useWebServers();

interface Srv {
  readonly name: string;
  readonly port: number;
  readonly priority?: number;
  readonly weight?: number;
}

/** DNS with these records only, and which of them were asked for. */
function createDns(srv: Readonly<Record<string, readonly Srv[]>> = {}, mx: Readonly<Record<string, string>> = {}) {
  const asked: string[] = [];
  const unknown = Object.assign(new Error("no such name"), { code: "ENOTFOUND" });
  const dns: LookupNetwork["dns"] = {
    async resolveSrv(name) {
      asked.push(name);
      const found = srv[name];
      if (found === undefined) throw unknown;
      return found.map((one) => ({ priority: 0, weight: 0, ...one }));
    },
    async resolveMx(name) {
      asked.push(name);
      const exchange = mx[name];
      if (exchange === undefined) throw unknown;
      return [
        { exchange: "backup.example", priority: 20 },
        { exchange, priority: 10 },
      ];
    },
    cancel() {},
  };
  return { dns, asked };
}

const CONFIG = `<?xml version="1.0"?><clientConfig version="1.1"><emailProvider id="example.net">
<domain>example.net</domain><displayName>Example &amp; Sons</displayName>
<incomingServer type="pop3"><hostname>pop.example.net</hostname><port>995</port><socketType>SSL</socketType></incomingServer>
<incomingServer type="imap"><hostname>old.example.net</hostname><port>143</port><socketType>plain</socketType></incomingServer>
<incomingServer type="imap"><hostname>imap.%EMAILDOMAIN%</hostname><port>993</port><socketType>SSL</socketType>
<username>%EMAILLOCALPART%</username><authentication>password-cleartext</authentication></incomingServer>
<outgoingServer type="smtp"><hostname>smtp.example.net</hostname><port>2525</port><socketType>SSL</socketType></outgoingServer>
</emailProvider></clientConfig>`;

/** A web server that answers at a name of the internet. */
async function publish(name: string, answers: Readonly<Record<string, string>>) {
  const internet = createFakeInternet();
  const web = await startWeb();
  internet.names.set(name, [["93.184.215.14"]]);
  internet.places.set("93.184.215.14", web.port);
  web.handler = (request, response) => {
    const body = answers[URL.parse(request.url ?? "", "http://x")?.pathname ?? ""];
    response.writeHead(body === undefined ? 404 : 200).end(body);
  };
  return { ...internet, web };
}

const offline = () => ({ network: createFakeInternet().network, ...createDns() });

test.each([
  ["me@gmail.com", { imapHost: "imap.gmail.com", smtpHost: "smtp.gmail.com", signIn: "google" }, "app password"],
  [
    "me@Hotmail.com",
    { imapHost: "outlook.office365.com", smtpHost: "smtp-mail.outlook.com:587", signIn: "microsoft" },
    "no passwords",
  ],
  ["me@icloud.com", { imapHost: "imap.mail.me.com", smtpHost: "smtp.mail.me.com:587" }, "app password"],
  ["me@proton.me", { imapHost: "127.0.0.1:1143", smtpHost: "127.0.0.1:1025" }, "Bridge"],
  ["me@web.de", { imapHost: "imap.web.de", smtpHost: "smtp.web.de:587" }, "allow IMAP"],
])("a known provider is not looked up: %s", async (address, values, note) => {
  const { asked, ...lookup } = offline();
  const found = await findServers(address, lookup);
  expect(found).toMatchObject({ values, note: expect.stringContaining(note) });
  expect(asked).toEqual([]);
});

test("a domain is asked for its autoconfig document", async () => {
  const { network, web } = await publish("autoconfig.example.net", { "/mail/config-v1.1.xml": CONFIG });
  const { values, note } = await findServers("ana@example.net", { network, ...createDns() });
  expect(values).toEqual({
    imapHost: "imap.example.net",
    smtpHost: "smtp.example.net:2525",
    smtpSecurity: "tls",
    user: "ana",
  });
  expect(note).toContain("example.net");
  expect(web.asked).toEqual(["autoconfig.example.net /mail/config-v1.1.xml?emailaddress=ana%40example.net"]);
});

test("the place below .well-known is asked too, and may redirect", async () => {
  const { network, names, web } = await publish("example.net", { "/config.xml": CONFIG });
  names.set("www.example.net", [["93.184.215.14"]]);
  const answer = web.handler;
  web.handler = (request, response) =>
    request.url?.startsWith("/.well-known/autoconfig/")
      ? redirectTo("https://www.example.net/config.xml")(response)
      : answer(request, response);
  expect((await findServers("ana@example.net", { network, ...createDns() })).values.imapHost).toBe("imap.example.net");
});

test("a server that takes tokens only is signed in to with OAuth2", async () => {
  const xml = CONFIG.replace("password-cleartext", "OAuth2").replace(
    "</emailProvider>",
    "</emailProvider><oAuth2><issuer>login.example.net</issuer><scope>imap smtp</scope><authURL>https://login.example.net/auth</authURL><tokenURL>https://login.example.net/token</tokenURL></oAuth2>",
  );
  const { network } = await publish("autoconfig.example.net", { "/mail/config-v1.1.xml": xml });
  expect((await findServers("ana@example.net", { network, ...createDns() })).values).toMatchObject({
    signIn: "oauth2",
    scopes: "imap smtp",
    authUrl: "https://login.example.net/auth",
    tokenUrl: "https://login.example.net/token",
  });
});

test.each([
  ["a private server", CONFIG.replaceAll("imap.%EMAILDOMAIN%", "10.0.0.1")],
  ["an endless document", `${CONFIG}${"<!-- more -->".repeat(10_000)}`],
  ["a web page", "<html><body>Welcome</body></html>"],
  [
    "a server without encryption",
    CONFIG.replace("<port>993</port><socketType>SSL", "<port>143</port><socketType>plain"),
  ],
])("is not taken from a document: %s", async (_name, xml) => {
  const { network } = await publish("autoconfig.example.net", { "/mail/config-v1.1.xml": xml });
  const { values, note } = await findServers("ana@example.net", { network, ...createDns() });
  expect(values).toEqual({});
  expect(note).toContain("Type them");
});

test("a private address is not asked, and neither is one without https", async () => {
  const { network, names, web } = await publish("autoconfig.example.net", { "/mail/config-v1.1.xml": CONFIG });
  names.set("autoconfig.example.net", [["10.0.0.1"]]);
  names.set("example.net", [["93.184.215.14"]]);
  web.handler = (_request, response) => redirectTo("http://example.net/config.xml")(response);
  expect((await findServers("ana@example.net", { network, ...createDns() })).values).toEqual({});
  expect(web.asked).toEqual(["example.net /.well-known/autoconfig/mail/config-v1.1.xml"]);
});

test("SRV records name the servers, the best one first", async () => {
  const { dns } = createDns({
    "_imaps._tcp.example.net": [
      { name: "late.example.net", port: 993, priority: 10 },
      { name: "light.example.net", port: 993, weight: 1 },
      { name: "imap.example.net", port: 9993, weight: 5 },
    ],
    "_submissions._tcp.example.net": [{ name: ".", port: 0 }],
    "_submission._tcp.example.net": [{ name: "smtp.example.net", port: 587 }],
  });
  expect((await findServers("ana@example.net", { ...offline(), dns })).values).toEqual({
    imapHost: "imap.example.net:9993",
    imapSecurity: "tls",
    smtpHost: "smtp.example.net:587",
  });
});

test.each([
  ["aspmx.l.google.com", "imap.gmail.com", "google"],
  ["example-net.mail.protection.outlook.com", "outlook.office365.com", "microsoft"],
])("the mail server of a domain tells its provider: %s", async (exchange, imapHost, signIn) => {
  const { dns } = createDns({}, { "example.net": exchange });
  const { values } = await findServers("ana@example.net", { ...offline(), dns });
  expect(values).toMatchObject({ imapHost, signIn });
});

test("a look-up that gets no answer ends, and what was found until then counts", async () => {
  const { network, web } = await publish("autoconfig.example.net", {});
  web.handler = () => {};
  const { dns } = createDns({ "_imap._tcp.example.net": [{ name: "imap.example.net", port: 143 }] });
  const never = { ...dns, resolveMx: () => new Promise<never>(() => {}) };
  const found = await findServers("ana@example.net", { network, dns: never, limitMs: 50 });
  expect(found.values).toEqual({ imapHost: "imap.example.net:143" });
});

test("a domain of this machine is not looked up", async () => {
  const { asked, ...lookup } = offline();
  expect((await findServers("me@localhost", lookup)).values).toEqual({});
  expect(asked).toEqual([]);
});

test("an address that is none is refused at its field", async () => {
  const { firstStep } = createMailIntegration({ lookup: offline() });
  await expect(firstStep?.suggest("nobody")).rejects.toMatchObject({
    status: 422,
    options: { extra: { setting: "address" } },
  });
});
