import type { Integration, SignInPlan } from "../../../apps/port/integration.ts";
import { createSecret, hashSecret } from "../../auth/secrets.ts";
import type { SecretBox } from "../../secrets/secret-box.ts";
import type { Store } from "../../store/open-store.ts";
import { describeClientGrant, readSignInId } from "./access-tokens.ts";
import { askForDevice, readCode, toPageUrl } from "./ask-owner.ts";
import { type FoundProvider, findProvider } from "./find-provider.ts";
import { createFirstTokens, type FirstTokens } from "./first-tokens.ts";
import { createProviderClients, type ProviderClients, toRedirect } from "./provider-clients.ts";
import { readRefusal, toServiceError } from "./request-tokens.ts";
import { createSignInRecords } from "./sign-in-record.ts";
import {
  createStartedSignIns,
  isReady,
  type StartedSignIn,
  unknownSignIn,
  type WantedConnection,
} from "./started-sign-ins.ts";

/** Path of the page to which providers lead back; those that cannot be told apart otherwise have one each below it. */
export const SIGNED_IN_PATH = "/signed-in";

/** The next step of a sign-in. `state` names it, and counts only in the browser that began. */
export type SignInStep =
  /** The owner opens the provider's page, which leads back to {@link SIGNED_IN_PATH}. `sentTo` as below. */
  | { readonly kind: "page"; readonly url: URL; readonly sentTo?: string | undefined }
  /** The owner types the code on the provider's page; then {@link ProviderSignIns.poll} is asked. */
  | {
      readonly kind: "device";
      readonly state: string;
      readonly userCode: string;
      readonly url: URL;
      readonly intervalSeconds: number;
      /** Host that gets the token, where it is not that of `url`. */
      readonly sentTo?: string | undefined;
    }
  /** The owner has to register a client with the provider and to name it: {@link ProviderSignIns.nameClient}. */
  | {
      readonly kind: "client";
      readonly state: string;
      readonly provider: string;
      readonly page: string | undefined;
      /** Whether the client has to be registered with `redirectUri`. */
      readonly leadsBack: boolean;
    }
  | ({ readonly kind: "done" } & FinishedSignIn);

/** The end of a sign-in: the id that goes into the settings, or why there is none. */
export type FinishedSignIn = { readonly wanted: WantedConnection } & FirstTokens;

type App = Pick<Integration, "slug" | "name" | "findSignIn">;

/** Sign-ins of the owner at providers. What they need is kept, encrypted, for 15 minutes. */
export interface ProviderSignIns {
  /** Where providers lead back to with a client that the owner named. */
  readonly redirectUri: string;
  /** Who this service is, for providers that look it up; undefined where it has no public https address. */
  readonly describeSelf: ProviderClients["describeSelf"];
  /**
   * Begins to sign in as these settings need it; undefined when they need nothing.
   *
   * @param o.browser something that only this browser has
   * @throws ServiceError 422 for a provider that cannot be used; 503, 429, 500 when it cannot be asked.
   */
  begin(
    app: App,
    settings: Readonly<Record<string, unknown>>,
    o: WantedConnection & { readonly browser: string },
  ): Promise<SignInStep | undefined>;
  /** Goes on with the owner's own client, which is kept for the provider. Throws like {@link ProviderSignIns.begin}. */
  nameClient(
    state: string,
    browser: string,
    client: { readonly clientId: string; readonly clientSecret: string | undefined },
  ): Promise<SignInStep>;
  /**
   * Ends a sign-in with what the provider sent back, once.
   *
   * @param id what stood behind {@link SIGNED_IN_PATH} and a slash
   * @throws ServiceError 409 when none was begun with this state in this browser.
   */
  finish(answer: URLSearchParams, browser: string, id?: string): Promise<FinishedSignIn>;
  /** Asks whether the owner has typed the code; undefined while not. Throws like {@link ProviderSignIns.finish}. */
  poll(state: string, browser: string): Promise<FinishedSignIn | undefined>;
}

/** Creates the sign-ins of a store. `now` gives milliseconds since the epoch. */
export function createProviderSignIns(o: {
  store: Store;
  box: SecretBox;
  now: () => number;
  baseUrl: string;
  redirectUri: string;
}): ProviderSignIns {
  const { now, redirectUri } = o;
  const clients = createProviderClients(o);
  const records = createSignInRecords(o);
  const startedSignIns = createStartedSignIns(o);
  const getTokens = createFirstTokens({ ...o, records, clients });

  /** What comes after it is known who we are to the provider. */
  async function goOn(state: string, started: StartedSignIn): Promise<SignInStep> {
    const { provider, flow, wanted } = started;
    if (!isReady(started)) {
      await startedSignIns.put(state, started);
      const page = provider.server.authorization_endpoint ?? provider.server.token_endpoint;
      return { kind: "client", state, provider: provider.name, page, leadsBack: flow === "code" };
    }
    if (flow === "client") return { kind: "done", wanted, ...(await getTokens(started, describeClientGrant(started))) };
    if (flow === "code") {
      await startedSignIns.put(state, started);
      const url = toPageUrl(started, { state, redirectUri });
      return { kind: "page", url, sentTo: findOtherHost(started, url) };
    }
    const { code, ...shown } = await askForDevice(started);
    const device = { code, intervalSeconds: shown.intervalSeconds, nextAt: now() };
    await startedSignIns.put(state, { ...started, device });
    return { kind: "device", state, ...shown, sentTo: findOtherHost(started, shown.url) };
  }

  return {
    redirectUri,
    describeSelf: clients.describeSelf,

    async begin(app, settings, { browser, ...wanted }) {
      const plan = app.findSignIn?.(settings);
      if (plan === undefined) return undefined;
      const before = wanted.connectionId === undefined ? undefined : readSignInId(settings);
      const known = before === undefined ? undefined : await records.find(before);
      const start = { wanted, browser: hashSecret(browser), verifier: createSecret(), ...(before && { before }) };
      return explain(app.name, async () => {
        const found = await findProvider(plan, app.name);
        const client = await clients.find(found, plan);
        const described = describePlan(plan, found, known?.wantedScopes);
        return goOn(createSecret(), {
          ...start,
          app: app.name,
          ...described,
          provider: { ...found, ...(client && { client }) },
        });
      });
    },

    async nameClient(state, browser, { clientId, clientSecret }) {
      const { provider, ...started } = await startedSignIns.take(state, browser);
      const client = { clientId, isRegistered: false, ...(clientSecret !== undefined && { clientSecret }) };
      await clients.keep(provider.server, client);
      return explain(started.app, () => goOn(state, { ...started, provider: { ...provider, client } }));
    },

    async finish(answer, browser, id) {
      const state = answer.get("state") ?? "";
      const started = await startedSignIns.take(state, browser);
      if (!isReady(started) || started.flow !== "code") throw unknownSignIn();
      const { wanted, verifier } = started;
      const code = await readCode(started, answer, { state, redirectUri, cameTo: toRedirect(redirectUri, id) });
      if (code.problem !== undefined) return { wanted, problem: code.problem };
      const params = { code: code.code, redirect_uri: code.redirectUri, code_verifier: verifier };
      return { wanted, ...(await getTokens(started, { grant: "authorization_code", params })) };
    },

    async poll(state, browser) {
      const started = await startedSignIns.take(state, browser);
      if (!isReady(started) || started.device === undefined) throw unknownSignIn();
      const { device, wanted } = started;
      if (device.nextAt > now()) return startedSignIns.put(state, started);
      const end = await getTokens(started, { grant: DEVICE_GRANT, params: { device_code: device.code } });
      const next = await judgeDevice(device, end, now());
      return next === undefined ? { wanted, ...end } : startedSignIns.put(state, { ...started, device: next });
    },
  };
}

/** The host that gets the token, if it is another than the one whose page the owner sees. */
function findOtherHost({ sentTo }: StartedSignIn, page: URL): string | undefined {
  const target = URL.parse(sentTo ?? "");
  return target === null || target.origin === page.origin ? undefined : target.host;
}

const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

/** @throws ServiceError whatever was wrong with the provider. */
async function explain<T>(app: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw await toServiceError(error, { app });
  }
}

function describePlan(plan: SignInPlan, found: FoundProvider, wantedScopes: readonly string[] = []) {
  const { flow, params = {}, keepsRefreshTokens = false } = plan;
  const scopes = [...new Set([...chooseScopes(plan, found), ...wantedScopes])];
  const sentTo = plan.sentTo ?? plan.provider.resource;
  return { flow, params: { ...params }, keepsRefreshTokens, scopes, wantedScopes: [...wantedScopes], sentTo };
}

/** Those of the plan, else those that the resource names; `offline_access` where the provider gives refresh tokens for it. */
function chooseScopes(plan: SignInPlan, { server, resourceScopes }: FoundProvider): string[] {
  const named = plan.scopes.length > 0 ? plan.scopes : resourceScopes;
  const isLookedUp = (plan.provider.resource ?? plan.provider.issuer) !== undefined;
  const isOffered = isLookedUp && server.scopes_supported?.includes("offline_access") === true;
  return isOffered && plan.flow === "code" ? [...named, "offline_access"] : [...named];
}

/** When to ask again; undefined when the owner has decided, or the code has ended. */
async function judgeDevice(
  device: NonNullable<StartedSignIn["device"]>,
  end: FirstTokens,
  now: number,
): Promise<StartedSignIn["device"]> {
  const error = "error" in end ? end.error : undefined;
  const isUndecided = (await readRefusal(error?.cause))?.error === "authorization_pending";
  // Otherwise it told us to slow down, or is down.
  if (!isUndecided && error?.options.retryable !== true) return undefined;
  const intervalSeconds = device.intervalSeconds + (isUndecided ? 0 : 5);
  return { ...device, intervalSeconds, nextAt: now + intervalSeconds * 1000 };
}
