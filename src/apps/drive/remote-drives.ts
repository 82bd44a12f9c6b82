import type { AllowedHosts } from "../../service/fetch/address-rules.ts";
import { type AppAgent, createAppAgent } from "../../service/fetch/guarded-connector.ts";
import { refuseSetting, ServiceError } from "../../service/service-error.ts";
import { createTurns } from "../../shared/base/concurrency.ts";
import type { ActionContext } from "../port/integration.ts";
import { RemoteCall } from "../port/remote-call.ts";
import { BucketClient } from "./bucket/bucket-client.ts";
import { BucketDrive } from "./bucket/bucket-drive.ts";
import { readBucketSettings } from "./bucket/bucket-settings.ts";
import type { OpenDrive } from "./drive.ts";
import { WebdavClient } from "./webdav/webdav-client.ts";
import { WebdavDrive } from "./webdav/webdav-drive.ts";
import { isOnWebdav, readWebdavSettings } from "./webdav/webdav-settings.ts";

/** How long a server may send nothing; a call has no more than a minute. */
const SILENCE_MS = 50_000;
const READ = { level: "read", idempotent: true } as const;

type Settings = ActionContext["connection"]["settings"];
type Action = Parameters<OpenDrive>[1];

/** Creates the ways to drives on other machines; connects nowhere yet. */
export function createRemoteDrives(o: { readonly allowed?: AllowedHosts }) {
  const agents = new Map<boolean, AppAgent>();
  const takeTurn = createTurns();

  function getDispatcher(isPrivate: boolean) {
    const agent = agents.get(isPrivate) ?? createAppAgent({ isPrivate, silenceMs: SILENCE_MS });
    agents.set(isPrivate, agent);
    return agent.dispatcher;
  }

  /** The drive of these settings, and the settings that a failure of it may be about. */
  function open(given: Settings, context: Pick<ActionContext, "signal" | "now">, action: Action) {
    if (isOnWebdav(given)) {
      const settings = readWebdavSettings(given, o.allowed);
      const { url, password, isPrivate } = settings;
      const call = new RemoteCall({ app: `The WebDAV server ${url.host}`, action, context, secrets: { password } });
      const drive = new WebdavDrive(new WebdavClient(call, settings, getDispatcher(isPrivate), takeTurn), call);
      return { drive, place: "webdavUrl", secret: "webdavPassword" };
    }
    const settings = readBucketSettings(given, o.allowed);
    const { place, isPrivate } = settings;
    const secrets = { key: place.secretAccessKey, id: place.accessKeyId };
    const call = new RemoteCall({ app: `The bucket "${place.bucket}"`, action, context, secrets });
    const drive = new BucketDrive(new BucketClient(call, settings, getDispatcher(isPrivate)), call, place);
    return { drive, place: given.s3Endpoint ? "s3Endpoint" : "s3Bucket", secret: "s3SecretAccessKey" };
  }

  return {
    open: (async (context, action) => open(context.connection.settings, context, action).drive) satisfies OpenDrive,

    /** Throws ServiceError 422 naming the setting that is wrong. */
    check(settings: Settings): void {
      if (isOnWebdav(settings)) readWebdavSettings(settings, o.allowed);
      else readBucketSettings(settings, o.allowed);
    },

    /** Lists the top of the drive. Throws as `check` does. */
    async test(given: Settings, signal: AbortSignal): Promise<void> {
      const { drive, place, secret } = open(given, { signal, now: Date.now }, READ);
      try {
        for await (const _ of drive.list({ parts: [], field: "folder" })) break;
      } catch (error) {
        if (signal.aborted) throw refuseSetting(place, "was tried, but gave no answer in time.", error);
        if (!(error instanceof ServiceError)) throw error;
        const isRefused = error.status === 401 || error.status === 403;
        throw refuseSetting(isRefused ? secret : place, `does not work: ${error.message}`, error);
      }
    },

    /** Ends all connections; a later call opens them again. */
    async close(): Promise<void> {
      const open = [...agents.values()];
      agents.clear();
      await Promise.all(open.map((agent) => agent.close()));
    },
  };
}
