import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SignInPlan } from "../../../../src/apps/port/integration.ts";
import { createAccessTokens } from "../../../../src/service/connections/sign-in/access-tokens.ts";
import { createProviderSignIns } from "../../../../src/service/connections/sign-in/provider-sign-ins.ts";
import { createSecretBox } from "../../../../src/service/secrets/secret-box.ts";
import { ServiceError } from "../../../../src/service/service-error.ts";
import { openStore } from "../../../../src/service/store/open-store.ts";

/** Where the owner comes back to. */
const REDIRECT = "https://svc.example/signed-in";
const BROWSER = "the owner's browser";

/** The sign-ins and tokens of a service with a store of its own. */
export async function openSignIns() {
  const folder = await mkdtemp(join(tmpdir(), "svc-hostile-"));
  const store = await openStore(join(folder, "svc.db"));
  const clock = { now: Date.parse("2026-01-01T10:00:00Z") };
  const parts = { store, box: createSecretBox(Buffer.alloc(32, 7)), now: () => clock.now };
  const signIns = createProviderSignIns({ ...parts, baseUrl: "http://localhost:1", redirectUri: REDIRECT });
  const accessTokens = createAccessTokens(parts);

  /** An app with the name of its host, an MCP server unless the plan says otherwise. */
  const appAt = (host: string, plan: Partial<SignInPlan> = {}) => ({
    slug: "app",
    name: "App",
    findSignIn: (settings: Readonly<Record<string, unknown>>): SignInPlan => ({
      ...{ provider: { resource: `https://${host}/mcp` }, flow: "code", scopes: [], isPrivate: false },
      useToken: ({ text }) => ({ ...settings, token: text }),
      ...plan,
    }),
  });
  const form = { label: "", access: "full", values: {} } as const;
  const begin = async (host: string, plan: Partial<SignInPlan> = {}, signInId?: string) => {
    const again = signInId === undefined ? {} : { connectionId: "con_1" };
    const settings = signInId === undefined ? {} : { signInId };
    return signIns.begin(appAt(host, plan), settings, { slug: "app", form, browser: BROWSER, ...again });
  };
  const finish = (answer: Readonly<Record<string, string>> | URLSearchParams, id?: string) =>
    signIns.finish(new URLSearchParams(answer), BROWSER, id);
  return {
    nameClient: (state: string, client: { clientId: string; clientSecret: string }) =>
      signIns.nameClient(state, BROWSER, client),
    poll: (state: string) => signIns.poll(state, BROWSER),
    clock,
    store,
    begin,
    finish,
    /** Begins a sign-in, up to the page that it leads to. */
    async findPage(host: string, plan: Partial<SignInPlan> = {}, signInId?: string): Promise<URL> {
      const step = await begin(host, plan, signInId);
      if (step?.kind !== "page") throw new Error(`no page but ${JSON.stringify(step)}`);
      return step.url;
    },
    /** Settings with a token. */
    provide: (host: string, signInId: string) => accessTokens.provide(appAt(host), { signInId }),
    accessTokens,
    async close() {
      await store.destroy();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The refusal in one line: status, code and message. */
export async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    return `not refused: ${JSON.stringify(await work)}`;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return `${error.status} ${error.code}: ${error.message}`;
  }
}
