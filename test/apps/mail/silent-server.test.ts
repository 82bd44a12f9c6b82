import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer as createPlainServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtInIntegrations } from "../../../src/apps/built-in.ts";
import { explainConnect } from "../../../src/apps/mail/server/mail-failure.ts";
import { toProblems } from "../../../src/service/connections/connector.ts";
import { makeCertificate } from "./kit/start-dovecot.ts";

/** A server that waits for TLS, or for nothing, says nothing: the libraries only know that no greeting came. */

let folder: string;
let tls: Server;
let mute: Server;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-silent-"));
  tls = createTlsServer(makeCertificate(folder), (socket) => socket.on("error", () => {}));
  // Cuts what is not its protocol, as servers do.
  mute = createPlainServer((socket) => socket.on("error", () => {}).once("data", () => socket.destroy()));
  for (const server of [tls, mute]) {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  }
});
afterAll(async () => {
  tls.close();
  mute.close();
  await rm(folder, { recursive: true });
});

const SILENCE = {
  IMAP: Object.assign(new Error("Failed to receive greeting from server in required time."), {
    code: "GREETING_TIMEOUT",
  }),
  SMTP: Object.assign(new Error("Greeting never received"), { code: "ETIMEDOUT" }),
};
const explain = (protocol: "IMAP" | "SMTP", server: Server, security: "starttls" | "tls" = "starttls") =>
  explainConnect(SILENCE[protocol], {
    protocol,
    setting: protocol === "IMAP" ? "imapHost" : "smtpHost",
    host: "127.0.0.1",
    port: (server.address() as AddressInfo).port,
    security,
  });

describe("a mail server that gives no greeting", () => {
  test.each(["IMAP", "SMTP"] as const)("and waits for TLS is told so at the setting of it: %s", async (protocol) => {
    const error = await explain(protocol, tls);
    expect(error).toMatchObject({ status: 422, code: "integration_misconfigured" });
    const mail = builtInIntegrations.find(({ slug }) => slug === "mail");
    if (mail === undefined) throw new Error("There is no mail.");
    const { port } = tls.address() as AddressInfo;
    expect([...toProblems(mail, error)]).toEqual([
      [
        `${protocol.toLowerCase()}Security`,
        `It does not fit: on port ${port} the server speaks TLS from the first byte. Choose "TLS".`,
      ],
    ]);
  });

  test("and waits for nothing is told as one that does not answer", async () => {
    expect(await explain("IMAP", mute)).toMatchObject({ status: 503, code: "provider_unavailable" });
  });

  test("although TLS was begun is not asked for TLS again", async () => {
    expect(await explain("SMTP", tls, "tls")).toMatchObject({ status: 503 });
  });
});
