import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, type RequestInit as HttpRequestInit, fetch as httpFetch } from "undici";
import { startTestService } from "../../../../src/testing.ts";
import { makeCertificate } from "../../../apps/mail/kit/start-dovecot.ts";
import { findFreePort } from "../../../service/free-port.ts";

const HOST = "svc.example.com";

/** Lets Chromium find the service at its public name. */
export const FIND_PUBLIC = `--host-resolver-rules=MAP ${HOST} 127.0.0.1`;

/**
 * Starts a service with a public https address: a proxy with a certificate of its own, at a name that only this test
 * resolves, to this machine. `fetch` is for others who look something up there; they trust the certificate.
 */
export async function startPublicService() {
  const folder = mkdtempSync(join(tmpdir(), "svc-public-"));
  const { key, cert } = makeCertificate(folder, `DNS:${HOST}`);
  rmSync(folder, { recursive: true });
  const port = await findFreePort();
  const front = createServer({ key, cert }, (incoming, outgoing) => {
    const { method, url, headers } = incoming;
    const forward = request({ host: "127.0.0.1", port, method, path: url, headers }, (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(outgoing);
    });
    forward.on("error", () => outgoing.destroy());
    incoming.pipe(forward);
  }).listen(0, "127.0.0.1");
  await once(front, "listening");
  const publicUrl = `https://${HOST}:${(front.address() as AddressInfo).port}`;
  const service = await startTestService({ port, publicUrl });
  const here = [{ address: "127.0.0.1", family: 4 }];
  const dispatcher = new Agent({ connect: { ca: cert, lookup: (_host, _options, found) => found(null, here) } });
  return {
    ...service,
    publicUrl,
    url: `http://127.0.0.1:${port}`,
    fetch: async (url: Parameters<typeof fetch>[0], init?: object) =>
      (await httpFetch(String(url), { ...(init as HttpRequestInit), dispatcher })) as unknown as Response,
    async close() {
      await service.close();
      await dispatcher.close();
      front.closeAllConnections();
      front.close();
    },
  };
}
