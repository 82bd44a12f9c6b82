import type { Context, Hono } from "hono";
import { cleanText } from "../../../base/text.ts";
import { readSettings } from "../../connections/connection-form.ts";
import type { Connection } from "../../connections/connections.ts";
import { toProblems } from "../../connections/connector.ts";
import type { SignInOrder } from "../../connections/grants/provider-sign-ins.ts";
import type { Integration } from "../../integrations/integration.ts";
import { ServiceError } from "../../service-error.ts";
import type { RouteEnv } from "../guard.ts";
import { askToSignIn, findOwner } from "../owner-browser.ts";
import { connectBody, reconnectBody } from "../pages/connect-page.ts";
import { sendPage } from "../pages/page.ts";
import type { ServiceParts } from "../service-parts.ts";
import { requireIntegration, requireReconnectable } from "./pages-connect.ts";

/** Redirect address of providers after the owner signed in there. */
export const SIGNED_IN_PATH = "/signed-in";

const WORDS_MAX = 200;

/** The return from a provider: it counts once, in the browser that began the sign-in. */
export function addSignedInPage(app: Hono<RouteEnv>, parts: ServiceParts): void {
  app.get(SIGNED_IN_PATH, async (c) => {
    const owner = await findOwner(c, parts);
    if (owner === undefined) return askToSignIn(c, parts);
    const begun = await parts.providerSignIns.take(c.req.query("state") ?? "", owner.csrfToken);
    if (begun === undefined) {
      const message =
        "This sign-in was not begun in this browser, is over, or took too long. Begin again on the connections page.";
      throw new ServiceError(409, "conflict", message);
    }
    const target = await findTarget(parts, begun);
    const problems = await finish(parts, { ...target, begun, code: c.req.query("code"), refusal: describeRefusal(c) });
    const { integration, connection } = target;
    if (problems === undefined) {
      const notice =
        connection === undefined ? "connections?notice=connected" : `connections/${connection.id}?notice=reconnected`;
      return c.redirect(`/${notice}`, 303);
    }
    const { csrfToken } = owner;
    const page = { integration, form: begun.form, problems, csrfToken, redirectUri: parts.providerSignIns.redirectUri };
    const body =
      connection === undefined ? connectBody({ ...page, unwell: [] }) : reconnectBody({ ...page, connection });
    return sendPage(c, { title: `Connect ${integration.name}`, body, csrfToken, section: "connections", status: 400 });
  });
}

interface Target {
  readonly integration: Integration;
  /** Undefined for a new one. */
  readonly connection: Connection | undefined;
}

async function findTarget(parts: ServiceParts, { slug, connectionId }: SignInOrder): Promise<Target> {
  if (connectionId !== undefined) return requireReconnectable(parts, connectionId);
  return { integration: requireIntegration(parts, slug), connection: undefined };
}

function describeRefusal(c: Context<RouteEnv>): string {
  const words = cleanText(c.req.query("error_description") ?? c.req.query("error"), WORDS_MAX);
  return words === null ? "The provider sent no code." : `The provider refused: ${words}`;
}

type Finish = Target & {
  readonly begun: SignInOrder & { readonly verifier: string };
  readonly code: string | undefined;
  readonly refusal: string;
};

/** Gets the tokens, keeps them and connects the app; the problems, or undefined. */
async function finish(parts: ServiceParts, { integration, connection, begun, code, refusal }: Finish) {
  if (code === undefined) return new Map([["", refusal]]);
  const { form, verifier } = begun;
  const fields = integration.settingsForm ?? [];
  const { settings } = readSettings(fields, form.values, connection?.settings);
  try {
    const given = await parts.providerSignIns.exchange(integration, settings, { code, verifier });
    const names = integration.findSignIn?.(settings)?.settings;
    if (names === undefined) return new Map([["", refusal]]);
    const { refreshToken, accessToken } = given;
    const values = {
      ...form.values,
      [names.refreshToken]: refreshToken ?? "",
      [names.accessToken]: refreshToken === undefined ? accessToken : "",
    };
    if (refreshToken !== undefined) {
      await parts.accessTokens.adopt(integration, readSettings(fields, values, settings).settings, given);
    }
    const typed = { ...form, values };
    const result =
      connection === undefined
        ? await parts.connector.connect(integration, typed)
        : await parts.connector.reconnect(integration, connection, typed, Object.values(names));
    return result.ok ? undefined : result.problems;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return toProblems(integration, error);
  }
}
