import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { rememberKeyOrigin } from "../../../../src/plugin/runtimes/openclaw/setup/find-key.ts";
import { shareHost } from "../../../../src/plugin/runtimes/openclaw/svc-host.ts";
import { svcPlugin } from "../../../../src/plugin/runtimes/openclaw/svc-plugin.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { createFakeApi, createStateFolder, type FakeHost } from "./fake-api.ts";

let folder: ReturnType<typeof createStateFolder>;
let service: TestService;

beforeEach(async () => {
  folder = createStateFolder();
  service = await startTestService();
});

afterEach(async () => {
  await share({}).close();
  await service.close();
  folder.remove();
});

const share = (host: FakeHost) => shareHost(createFakeApi(host).api, folder.environment);
const paired = (more: Record<string, unknown> = {}) => ({
  pluginConfig: { baseUrl: service.url, apiKey: service.apiKey, ...more },
});

/** Journals that this process has open, as Linux tells. */
function countOpenJournals(): number {
  return readdirSync("/proc/self/fd").filter((name) => {
    try {
      return readlinkSync(join("/proc/self/fd", name)).endsWith("/state.db");
    } catch {
      return false;
    }
  }).length;
}

describe("the shared host", () => {
  test("is one for all registrations in a state folder", () => {
    const other = createStateFolder();
    expect(share({ mode: "discovery" })).toBe(share({}));
    expect(shareHost(createFakeApi().api, other.environment)).not.toBe(share({}));
    other.remove();
  });

  test("takes the settings of the latest registration", () => {
    const host = share({ mode: "cli-metadata", pluginConfig: { upload: "ingest" } });
    share({ pluginConfig: { validation: "strict" } });
    expect(host.settings()).toMatchObject({ upload: "envelope", validation: "strict" });
    share({ mode: "discovery", pluginConfig: { validation: "off" } });
    expect(host.settings().validation, "a look at the plugin changes nothing for the running one").toBe("strict");
    share({ pluginConfig: { validation: "off" } });
    expect(host.settings().validation).toBe("off");
  });

  test("names the ways to pair when there is no key", async () => {
    await expect(share({}).openAccount(undefined)).rejects.toMatchObject({
      code: "credentials_missing",
      hint: expect.stringMatching(/\/login svc.*models auth login --provider svc --method pair.*openclaw svc pair/s),
    });
  });

  test("says that a key of a stranger's folder does not count, without showing it", async () => {
    const { api } = createFakeApi();
    const host = shareHost(api, { ...folder.environment, foreignKey: "svc_live_stranger" });
    await expect(host.openAccount(undefined)).rejects.toMatchObject({
      code: "credentials_missing",
      message: expect.stringMatching(/^(?!.*svc_live_stranger).*\.env file/),
    });
  });

  test("runs static tools and flow tools with the key of the settings", async () => {
    const account = await share(paired()).openAccount(undefined);
    expect(account.tools.size).toBe(11);
    const found = await account.tools.get("svc_search_tools")?.run({ query: "search mail" }, { callId: "c1" });
    expect(found?.status).toBe("succeeded");
    const listed = await account.tools.get("svc_list_flow_templates")?.run({}, { callId: "c2" });
    expect(listed?.status).toBe("succeeded");
  });

  test("tells listeners of what happens, until they stop listening", async () => {
    const account = await share(paired()).openAccount(undefined);
    const events: string[] = [];
    const stop = account.onEvent((event) => events.push(event.type));
    const call = { toolName: "drive_list_files", arguments: {} };
    await account.session.call({ ...call, callId: "c1" });
    expect(events).toContain("finished");
    stop();
    const count = events.length;
    await account.session.call({ ...call, callId: "c2" });
    expect(events).toHaveLength(count);
  });

  test("tells the other listeners when one fails, and the call goes on", async () => {
    const account = await share(paired()).openAccount(undefined);
    const events: string[] = [];
    account.onEvent(() => {
      throw new Error("no room for a line");
    });
    account.onEvent((event) => events.push(event.type));
    const outcome = await account.session.call({ callId: "c1", toolName: "drive_list_files", arguments: {} });
    expect(outcome.status).toBe("succeeded");
    expect(events).toContain("finished");
  });

  test("keeps the files of an account in a folder of its own, without its key in the name", async () => {
    const host = share(paired());
    await host.openAccount(undefined);
    share(paired({ apiKey: await service.createKey() }));
    await host.openAccount(undefined);
    const accounts = readdirSync(join(host.places.state, "accounts"));
    expect(accounts).toHaveLength(2);
    for (const account of accounts) expect(account).toMatch(/^[0-9a-f]{16}$/);
    expect(existsSync(host.places.media), "the host's media folder is the one root").toBe(true);
  });

  test("sends a stored key only to the service that issued it", async () => {
    const host = share({ storedKey: service.apiKey, pluginConfig: { baseUrl: "http://127.0.0.1:9" } });
    const pairedAt = new Date(0).toISOString();
    await rememberKeyOrigin(host.places, service.apiKey, { baseUrl: service.url, pairedAt });
    await expect(host.openAccount(undefined)).rejects.toMatchObject({
      code: "credentials_missing",
      field: "baseUrl",
      message: expect.stringContaining(service.url),
    });
    share({ storedKey: service.apiKey });
    expect((await host.openAccount(undefined)).session.client.baseUrl).toBe(service.url);
    share({ storedKey: service.apiKey, pluginConfig: { baseUrl: `${service.url}/` } });
    expect((await host.openAccount(undefined)).session.client.baseUrl).toBe(service.url);
  });

  test("takes keys out of the log, also ones that look like nothing", async () => {
    const { api, recorded } = createFakeApi({ pluginConfig: { baseUrl: service.url, apiKey: "plain-looking-key" } });
    const host = shareHost(api, folder.environment);
    await host.openAccount(undefined);
    host.log.warn("Refused plain-looking-key and svc_live_abcdefgh.");
    expect(recorded.lines).toEqual(["Refused [redacted] and svc_live_[redacted]."]);
  });

  test("opens one session per account, also for calls at the same moment", async () => {
    const host = share(paired());
    const sessions = await Promise.all(Array.from({ length: 5 }, () => host.openAccount(undefined)));
    expect(new Set(sessions).size).toBe(1);
    share(paired());
    expect(await host.openAccount(undefined)).toBe(sessions[0]);
  });

  test("opens anew with changed settings and lets a running call end in the old session", async () => {
    const host = share(paired());
    const old = await host.openAccount(undefined);
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const running = old.session.call({
      toolName: "drive_create_folder",
      arguments: { path: "Reports" },
      callId: "c1",
      approve: async ({ id, fingerprint }) => {
        asked.resolve();
        await answer.promise;
        return { type: "approve", id, fingerprint };
      },
    });
    await asked.promise;
    share(paired({ validation: "strict" }));
    const next = await host.openAccount(undefined);
    expect(next).not.toBe(old);
    const closing = host.close();
    answer.resolve();
    expect(await running).toMatchObject({ status: "succeeded" });
    await closing;
    expect(await service.effects()).toHaveLength(1);
  });

  test("opens again after a refusal of the settings", async () => {
    const host = share(paired({ mediaRoots: ["/"] }));
    await expect(host.openAccount(undefined)).rejects.toMatchObject({ code: "invalid_config", field: "mediaRoots" });
    share(paired());
    await expect(host.openAccount(undefined)).resolves.toBeDefined();
  });

  test("opens again after it was closed", async () => {
    const host = share(paired());
    const first = await host.openAccount(undefined);
    await host.close();
    expect(await host.openAccount(undefined)).not.toBe(first);
  });
});

describe("registering", () => {
  test.runIf(process.platform === "linux")(
    "leaves the runtime alone and nothing open, however often it happens",
    async () => {
      const host = share(paired());
      await host.openAccount(undefined);
      const handles = process.getActiveResourcesInfo().length;
      process.env.OPENCLAW_STATE_DIR = folder.environment.stateDir;
      try {
        for (let count = 0; count < 50; count += 1) {
          const { api, recorded } = createFakeApi(paired());
          svcPlugin.register(api);
          expect(recorded.runtimeReads).toBe(0);
          await host.openAccount(undefined);
        }
      } finally {
        delete process.env.OPENCLAW_STATE_DIR;
      }
      expect(process.getActiveResourcesInfo().length).toBeLessThanOrEqual(handles);
      expect(readdirSync(join(host.places.state, "accounts"))).toHaveLength(1);
      expect(countOpenJournals()).toBe(1);
    },
  );

  test("in another copy of the plugin takes over with the open questions, never for a look at it", async () => {
    vi.resetModules();
    const copy = await import("../../../../src/plugin/runtimes/openclaw/svc-host.ts");
    const shareCopy = (host: FakeHost) => copy.shareHost(createFakeApi(host).api, folder.environment);
    const host = share(paired());
    const [account, askState] = [await host.openAccount(undefined), await host.openAskState()];
    expect(shareCopy({ mode: "discovery" })).toBe(host);
    expect(await host.openAccount(undefined)).toBe(account);

    const next = shareCopy(paired());
    expect(next).not.toBe(host);
    expect(await next.openAskState()).toBe(askState);
    expect(await host.openAccount(undefined), "the sessions of the copy before are closed").not.toBe(account);
    await host.close();
    expect(shareCopy({ mode: "discovery" })).toBe(next);
    await next.close();
  });

  test("tries again to load the open questions where another copy of the plugin could not", async () => {
    vi.resetModules();
    vi.doMock("../../../../src/plugin/runtimes/openclaw/ask/ask-state.ts", () => {
      throw new Error("removed");
    });
    const gone = await import("../../../../src/plugin/runtimes/openclaw/svc-host.ts");
    const opening = gone.shareHost(createFakeApi(paired()).api, folder.environment).openAskState();
    const next = share(paired());
    await expect(opening).rejects.toThrow();
    vi.doUnmock("../../../../src/plugin/runtimes/openclaw/ask/ask-state.ts");
    expect((await next.openAskState()).waitingCalls.list()).toEqual([]);
  });

  test.runIf(process.platform === "linux")("again and again from new copies leaves one open journal", async () => {
    let host = share(paired());
    for (let count = 0; count < 5; count += 1) {
      await host.openAccount(undefined);
      vi.resetModules();
      const copy = await import("../../../../src/plugin/runtimes/openclaw/svc-host.ts");
      const previous = host;
      host = copy.shareHost(createFakeApi(paired()).api, folder.environment);
      await previous.close();
    }
    await host.openAccount(undefined);
    expect(countOpenJournals()).toBe(1);
    await host.close();
    expect(countOpenJournals()).toBe(0);
  });

  test("closes the sessions when the host drops the latest registration, and only then", async () => {
    process.env.OPENCLAW_STATE_DIR = folder.environment.stateDir;
    const [earlier, latest] = [createFakeApi(paired()), createFakeApi(paired())];
    svcPlugin.register(earlier.api);
    svcPlugin.register(latest.api);
    delete process.env.OPENCLAW_STATE_DIR;
    const host = shareHost(latest.api, folder.environment);
    const account = await host.openAccount(undefined);
    for (const dispose of earlier.recorded.disposals) await dispose();
    expect(await host.openAccount(undefined)).toBe(account);
    for (const dispose of latest.recorded.disposals) await dispose();
    const next = await host.openAccount(undefined);
    expect(next).not.toBe(account);
    await latest.recorded.services.find(({ id }) => id === "svc-sessions")?.stop?.();
    expect(await host.openAccount(undefined)).not.toBe(next);
  });

  test("touches no runtime while the host only reads the commands", () => {
    process.env.OPENCLAW_STATE_DIR = folder.environment.stateDir;
    const { api, recorded } = createFakeApi({ mode: "cli-metadata" });
    svcPlugin.register(api);
    delete process.env.OPENCLAW_STATE_DIR;
    expect(recorded.runtimeReads).toBe(0);
  });
});
