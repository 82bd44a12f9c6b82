import type { IncomingMessage } from "node:http";
import { startTestService } from "../../../src/testing.ts";
import { startFakeS3 } from "../../service/files/fake-s3.ts";
import { toBucketSettings } from "../drive/bucket-settings.ts";
import { PASSWORD, startWebdav, USER } from "../drive/start-webdav.ts";
import { type ContractSubject, describeIntegrationContract } from "./describe-integration-contract.ts";
import { HTTP_FAULTS, type HttpAnswer, toHttpAnswer } from "./http-faults.ts";
import type { ProviderFault } from "./provider-faults.ts";

describeIntegrationContract("a drive in a bucket", setUpBucket, { faults: HTTP_FAULTS });
describeIntegrationContract("a drive on a WebDAV server", setUpWebdav, { faults: HTTP_FAULTS });

/** A server of files whose requests may be answered otherwise. */
interface FaultyServer {
  fail(rule: (request: IncomingMessage) => HttpAnswer | undefined): void;
  stop(): Promise<void>;
  resume(): Promise<void>;
  close(): Promise<void>;
}

async function setUpBucket(): Promise<ContractSubject> {
  const s3 = await startFakeS3();
  const countEffects = async () => {
    // What is moved is there again for the next move.
    s3.objects.set("a.txt", { bytes: Buffer.from("a"), writtenAt: Date.now() });
    return [...s3.objects.keys()].filter((name) => name.startsWith("b")).length;
  };
  const settings = toBucketSettings(s3.place);
  return setUp(s3, { settings, countEffects, badSettings: { ...settings, s3Endpoint: "http://s3.example.org" } });
}

async function setUpWebdav(): Promise<ContractSubject> {
  const dav = await startWebdav();
  const countEffects = async () => {
    dav.items.set("/dav/files/a.txt", { bytes: Buffer.from("a"), modified: new Date() });
    return [...dav.items.keys()].filter((name) => name.startsWith("/dav/files/b")).length;
  };
  const settings = { webdavUrl: dav.url, webdavUser: USER, webdavPassword: PASSWORD };
  return setUp(dav, { settings, countEffects, badSettings: { ...settings, webdavUrl: "http://dav.example.org" } });
}

async function setUp(
  server: FaultyServer,
  o: Required<Pick<ContractSubject, "countEffects" | "badSettings">> & { readonly settings: Record<string, unknown> },
): Promise<ContractSubject> {
  const service = await startTestService({ providerTimeoutMs: 4_000 });
  const { connections } = service.service;
  for (const { id } of await connections.list("drive")) await connections.remove(id);
  const { settings, ...own } = o;
  await connections.add({ integration: "drive", label: "Elsewhere", settings });
  return {
    service,
    slug: "drive",
    read: { action: "search_files", args: { query: "milk" } },
    write: { action: "move_file", args: { path: "a.txt", destination: "b.txt", if_exists: "rename" } },
    ...own,
    /** The look-up before a write stays well: what fails without having changed anything is another test's matter. */
    async meet(fault: ProviderFault) {
      const answer = toHttpAnswer(fault);
      if (answer === undefined) await server.stop();
      else server.fail((request) => (answer.status === 401 || !isLookUp(request) ? answer : undefined));
    },
    async recover() {
      server.fail(() => undefined);
      await server.resume();
    },
    async close() {
      await service.close();
      await server.close();
    },
  };
}

function isLookUp({ method, url = "", headers }: Parameters<Parameters<FaultyServer["fail"]>[0]>[0]): boolean {
  return method === "HEAD" || url.includes("max-keys=1") || headers.depth === "0";
}
