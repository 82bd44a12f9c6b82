import { expect, test } from "vitest";
import { builtInIntegrations } from "../../../src/apps/built-in.ts";
import { explainConnect } from "../../../src/apps/mail/server/mail-failure.ts";
import { toNetworkWords } from "../../../src/apps/port/network-words.ts";
import { toProblems } from "../../../src/service/connections/connector.ts";

test.each([
  ["getaddrinfo ENOTFOUND imap.example.org", "there is no server of this name."],
  ["getaddrinfo EAI_AGAIN imap.example.org", "its name cannot be looked up at the moment."],
  ["connect ECONNREFUSED 127.0.0.1:993", "nothing answers at this address and port."],
  ["UND_ERR_CONNECT_TIMEOUT", "it does not answer in time."],
  ["connect EHOSTUNREACH 10.0.0.1:993", "there is no way to it from the machine of the service."],
  ["read ECONNRESET", "it closed the connection."],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "its certificate is signed by itself."],
  ["CERT_HAS_EXPIRED", "its certificate has expired."],
  ["Login failed for ECONNREFUSEDER", "Login failed for ECONNREFUSEDER"],
])("%s is said in words", (text, words) => {
  expect(toNetworkWords(text)).toBe(words);
});

test("a form names its fields by their labels, and shows no code of the network", async () => {
  const mail = builtInIntegrations.find(({ slug }) => slug === "mail");
  const server = {
    protocol: "IMAP",
    setting: "imapHost",
    host: "imap.example.org",
    port: 993,
    security: "tls",
  } as const;
  const say = async (code: string) => {
    const error = await explainConnect(Object.assign(new Error(code), { code }), server);
    return [...toProblems(mail ?? ({ slug: "", settingsForm: [] } as never), error)];
  };
  expect(await say("DEPTH_ZERO_SELF_SIGNED_CERT")).toEqual([
    [
      "imapHost",
      "It names a server whose certificate is signed by itself. If it is your own server, put the certificate of its authority into “Certificate of your own authority”; encryption without a check is not offered.",
    ],
  ]);
  expect(await say("ENOTFOUND")).toEqual([
    ["", "The IMAP server imap.example.org cannot be reached: there is no server of this name."],
  ]);
});
