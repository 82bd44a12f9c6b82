import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openCredentialStore } from "../../../../../src/plugin/pairing/credentials.ts";
import type { HostToolContext } from "../../../../../src/plugin/runtimes/openclaw/host/host-tool.ts";
import type { LoadSdk } from "../../../../../src/plugin/runtimes/openclaw/host/load-sdk.ts";
import { createPlaces } from "../../../../../src/plugin/runtimes/openclaw/host/places.ts";
import { findApiKey, rememberKeyOrigin } from "../../../../../src/plugin/runtimes/openclaw/setup/find-key.ts";
import { readEnvironment } from "../../../../../src/plugin/runtimes/openclaw/setup/read-environment.ts";
import { createFakeApi, createStateFolder, type FakeHost } from "../fake-api.ts";

let folder: ReturnType<typeof createStateFolder>;

beforeEach(() => {
  folder = createStateFolder();
});

afterEach(() => folder.remove());

interface Sources extends FakeHost {
  readonly set?: string;
  readonly variable?: string;
  readonly context?: HostToolContext;
  readonly own?: string;
  readonly load?: LoadSdk;
}

/** Looks for a key where some of the sources have one. */
async function find({ set, variable, own, context, load, ...host }: Sources) {
  const { stateDir } = folder.environment;
  const places = createPlaces(stateDir);
  if (own !== undefined) {
    const pairedAt = new Date(0).toISOString();
    const credentials = { baseUrl: "https://own.example", apiKey: own, apiKeyId: "k1", pairedAt };
    await openCredentialStore(places.state).write(credentials);
  }
  const { api, recorded } = createFakeApi(host);
  const environment = readEnvironment({
    OPENCLAW_STATE_DIR: stateDir,
    ...(variable === undefined ? {} : { SVC_API_KEY: variable }),
  });
  return {
    found: await findApiKey({
      settings: { apiKey: set },
      environment,
      places,
      context,
      api,
      ...(load === undefined ? {} : { load }),
    }),
    places,
    recorded,
  };
}

describe("the key", () => {
  const all = { set: "svc_live_set", variable: "svc_live_env", storedKey: "svc_live_host", own: "svc_live_file" };
  const { set: _set, ...withoutSet } = all;
  const { variable: _variable, ...withoutVariable } = withoutSet;
  const { storedKey: _storedKey, ...onlyOwn } = withoutVariable;

  test.each([
    ["the settings", all, { apiKey: "svc_live_set", source: "config" }],
    ["the environment", withoutSet, { apiKey: "svc_live_env", source: "environment" }],
    ["the host", withoutVariable, { apiKey: "svc_live_host", source: "host" }],
    ["the own file", onlyOwn, { apiKey: "svc_live_file", source: "file", baseUrl: "https://own.example" }],
    ["nowhere", {}, undefined],
  ])("comes from %s first", async (_where, sources, expected) => {
    expect((await find(sources)).found).toEqual(expected);
  });

  test("of the agent that calls wins over the one of the default agent", async () => {
    const context = { resolveApiKeyForProvider: async (provider: string) => `svc_live_agent_${provider}` };
    expect((await find({ storedKey: "svc_live_host", context })).found?.apiKey).toBe("svc_live_agent_svc");
  });

  test("of another agent is not used for an agent that has none", async () => {
    const context = { resolveApiKeyForProvider: async () => undefined };
    expect((await find({ storedKey: "svc_live_host", context })).found).toBeUndefined();
  });

  test("is not taken for absent where the host fails to answer; only its own word says that there is none", async () => {
    const fail = (message: string) => ({ resolveApiKeyForProvider: () => Promise.reject(new Error(message)) });
    await expect(find({ context: fail("locked"), own: "svc_live_other" })).rejects.toMatchObject({
      code: "credentials_missing",
      message: expect.stringContaining("locked"),
    });
    const none = 'No API key found for provider "svc". Auth store: x.';
    expect((await find({ context: fail(none), own: "svc_live_own" })).found?.source).toBe("file");
  });

  test("of several agents is the default one's, which the host does not choose by itself", async () => {
    const asked: unknown[] = [];
    const sdk: Record<string, unknown> = {
      listAgentIds: () => ["other", "main"],
      tryResolveDefaultAgentId: () => undefined,
      resolveAgentDir: (_config: unknown, id: string) => `/agents/${id}`,
      resolveApiKeyForProvider: async (wanted: object) => {
        asked.push(wanted);
        return { apiKey: "svc_live_main" };
      },
    };
    const { found } = await find({ load: async () => sdk });
    expect(found).toEqual({ apiKey: "svc_live_main", source: "host" });
    expect(asked).toMatchObject([{ provider: "svc", agentDir: "/agents/main" }]);
  });

  test("from a .env file of a folder does not come back by way of the host", async () => {
    const { stateDir } = folder.environment;
    writeFileSync(join(stateDir, ".env"), "SVC_API_KEY=svc_live_stranger");
    const environment = readEnvironment({ HOME: stateDir, SVC_API_KEY: "svc_live_stranger" }, stateDir);
    const places = createPlaces(stateDir);
    const search = (storedKey: string) => {
      const { api } = createFakeApi({ storedKey });
      return findApiKey({ settings: { apiKey: undefined }, environment, places, context: undefined, api });
    };
    expect(await search("svc_live_stranger")).toBeUndefined();
    expect((await search("svc_live_paired"))?.source).toBe("host");
  });

  test("is asked of the host where the context has no helper, as in /tools/invoke", async () => {
    expect((await find({ storedKey: "svc_live_host", context: { agentId: "main" } })).found?.source).toBe("host");
  });

  test("comes with the address that issued it", async () => {
    const { places } = await find({});
    const pairedAt = new Date(0).toISOString();
    await rememberKeyOrigin(places, "svc_live_host", { baseUrl: "https://issuer.example", pairedAt });
    expect((await find({ storedKey: "svc_live_host" })).found?.baseUrl).toBe("https://issuer.example");
    expect((await find({ storedKey: "svc_live_other" })).found?.baseUrl).toBeUndefined();
  });

  test("is looked for without the runtime where there is none", async () => {
    const { found, recorded } = await find({ mode: "cli-metadata", storedKey: "svc_live_host", own: "svc_live_file" });
    expect(found?.source).toBe("file");
    expect(recorded.runtimeReads).toBe(0);
  });

  test("given as a reference without a value is not replaced by another one", async () => {
    const { api } = createFakeApi({ storedKey: "svc_live_host" });
    const search = {
      settings: { apiKey: { source: "env", provider: "default", id: "NOT_THERE" } },
      environment: folder.environment,
      places: createPlaces(folder.environment.stateDir),
      context: undefined,
      api,
    };
    await expect(findApiKey(search)).rejects.toMatchObject({
      code: "credentials_missing",
      field: "plugins.entries.svc.config.apiKey",
    });
  });
});
