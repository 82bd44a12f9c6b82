import type { Hono } from "hono";
import { appStopped } from "../../../apps/port/create-added-integration.ts";
import { isStopped } from "../../../apps/port/source.ts";
import type { OwnerSession } from "../../auth/owner-sessions.ts";
import type { Person } from "../../auth/people.ts";
import type { Connection } from "../../connections/connection.ts";
import { type ConnectionForm, type FormProblems, readSettings } from "../../connections/connection-form.ts";
import { toProblems } from "../../connections/connector.ts";
import { CLIENT_METADATA_PATH } from "../../connections/sign-in/provider-clients.ts";
import { type FinishedSignIn, SIGNED_IN_PATH, type SignInStep } from "../../connections/sign-in/provider-sign-ins.ts";
import { ServiceError } from "../../service-error.ts";
import { logChange } from "../audit.ts";
import { ownerPages } from "../owner-browser.ts";
import type { RouteEnv } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { sendJson } from "../whole-answer.ts";
import { requireConnection } from "./connections.ts";
import type { Page } from "./page.ts";
import { stepBody } from "./provider-step.ts";
import { formPage, readForm, type Target } from "./settings-form.ts";

/** The forms that connect and reconnect an app, and the return from a provider. Invalid input is shown again with its problems. */
export function addConnectPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  addForms(app, parts, { path: "/connect/:id", find: async (slug) => findNew(parts, slug) });
  addForms(app, parts, { path: "/connections/:id/reconnect", find: (id) => findReconnectable(parts, id) });
  addSignInPages(app, parts);
  // Providers look up here who this service is.
  for (const path of [CLIENT_METADATA_PATH, "/oauth/client/:id{[0-9a-f]{16}}"]) {
    app.get(path, (c) => {
      const described = parts.providerSignIns.describeSelf(c.req.param("id"));
      return described === undefined ? c.notFound() : sendJson(described);
    });
  }
}

function addForms(
  app: Hono<RouteEnv>,
  parts: ServiceParts,
  { path, find }: { path: "/connect/:id" | "/connections/:id/reconnect"; find: (id: string) => Promise<Target> },
): void {
  const { addPage, addForm } = ownerPages(app, parts);
  addPage(path, async (c, { csrfToken }) => {
    const target = await find(c.req.param("id"));
    const isFirstStep = target.integration.firstStep !== undefined && c.req.query("all") === undefined;
    return formPage(parts, target, { csrfToken, isFirstStep });
  });
  addForm(path, async (c, { owner, form: sent }) => {
    const { csrfToken, person } = owner;
    const target = await find(c.req.param("id"));
    const form = await readForm(parts, target, { sent, csrfToken });
    if (sent.get("step") === "first") return takeFirstStep(parts, target, { form, csrfToken });
    const result = await begin(parts, target, { form, csrfToken });
    if (result.kind === "problems") return formPage(parts, target, { csrfToken, form, problems: result.problems });
    if (result.kind !== "connected") return stepPage(parts, result, { name: target.integration.name, csrfToken });
    return findNext(parts, target, { ...result, by: person });
  });
}

/** The page for the next step of a sign-in. */
function stepPage(parts: ServiceParts, step: SignInStep, o: { name: string; csrfToken: string }): Page {
  const { redirectUri } = parts.providerSignIns;
  return { title: `Sign in to ${o.name}`, body: stepBody({ ...o, step, redirectUri }), section: "connections" };
}

/** The whole form, filled in from the setting that was asked for first. */
async function takeFirstStep(parts: ServiceParts, target: Target, sent: { form: ConnectionForm; csrfToken: string }) {
  const { setting = "", suggest } = target.integration.firstStep ?? {};
  const typed = sent.form.values[setting]?.trim() ?? "";
  try {
    const suggestion = await suggest?.(typed);
    const form = { label: typed, values: { ...suggestion?.values, [setting]: typed } };
    return await formPage(parts, target, { ...sent, form, suggestion });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return formPage(parts, target, { ...sent, problems: toProblems(target.integration, error), isFirstStep: true });
  }
}

function connect(
  { connector }: ServiceParts,
  { integration, connection }: Target,
  form: ConnectionForm,
  signInId?: string,
) {
  return connection === undefined
    ? connector.connect(integration, form, signInId)
    : connector.reconnect(integration, connection, form, signInId);
}

/** An app that was just signed in to for the first time offers something only when its owner allows it. */
async function findNext(
  { sources, log }: ServiceParts,
  target: Target,
  { connection: { id, label }, other, by }: Connected & { readonly by: Person },
): Promise<string> {
  const [event, verb] =
    target.connection === undefined ? ["connection.added", "connected"] : ["connection.changed", "reconnected"];
  logChange(log, by, { event, did: `${verb} ${target.integration.slug} as`, name: label, id });
  if (other !== undefined) return `/connections/${other}?notice=other-account`;
  const { slug, actions } = target.integration;
  const source = actions.length > 0 ? undefined : await sources.find(slug);
  const isNew = source !== undefined && !isStopped(source) && source.proposal !== undefined;
  return isNew ? `/apps/${slug}/review` : donePath(target);
}

function donePath({ connection }: Target): string {
  return connection === undefined
    ? "/connections?notice=connected"
    : `/connections/${connection.id}?notice=reconnected`;
}

type Problems = { readonly kind: "problems"; readonly problems: FormProblems };
/** `other` is the id of a connection whose provider let in another account than the owner typed. */
type Connected = { readonly kind: "connected"; readonly connection: Connection; readonly other?: string };

/** Signs in where the settings need it, else connects. */
async function begin(
  parts: ServiceParts,
  target: Target,
  { form, csrfToken }: { form: ConnectionForm; csrfToken: string },
): Promise<SignInStep | Problems | Connected> {
  const { integration, connection } = target;
  const { settings, problems } = readSettings(integration.settingsForm ?? [], form.values, connection?.settings);
  if (problems.size > 0) return { kind: "problems", problems };
  try {
    const step = await parts.providerSignIns.begin(integration, settings, {
      slug: integration.slug,
      form,
      browser: csrfToken,
      ...(connection !== undefined && { connectionId: connection.id }),
    });
    if (step !== undefined && step.kind !== "done") return step;
    if (step !== undefined) return await settle(parts, target, step);
    const result = await connect(parts, target, form);
    return result.ok
      ? { kind: "connected", connection: result.connection }
      : { kind: "problems", problems: result.problems };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { kind: "problems", problems: toProblems(integration, error) };
  }
}

/** Connects with the sign-in that has ended well. */
async function settle(parts: ServiceParts, target: Target, end: FinishedSignIn): Promise<Problems | Connected> {
  if ("problem" in end) return { kind: "problems", problems: new Map([["", end.problem]]) };
  const { account = "", wanted, signInId } = end;
  const fields = target.integration.settingsForm ?? [];
  const { settings } = readSettings(fields, wanted.form.values, target.connection?.settings);
  const meant = target.integration.findSignIn?.(settings)?.params?.login_hint;
  // Another account may be right: one that may use a shared mailbox, for example.
  const isOther = meant !== undefined && account.includes("@") && meant.toLowerCase() !== account.toLowerCase();
  const result = await connect(parts, target, wanted.form, signInId);
  if (result.ok) {
    const { connection } = result;
    return { kind: "connected", connection, ...(isOther && { other: connection.id }) };
  }
  const note = `You signed in as ${account}, which is another account than the one you typed.`;
  return { kind: "problems", problems: isOther ? new Map([["", note], ...result.problems]) : result.problems };
}

/** @throws ServiceError 404 `integration_not_found`, 422 when the app stopped working. */
function findNew({ catalog }: ServiceParts, slug: string): Target {
  const integration = catalog.integrations.find((candidate) => candidate.slug === slug);
  if (integration?.stopped !== undefined) throw appStopped(integration);
  if (integration !== undefined) return { integration, connection: undefined };
  throw new ServiceError(404, "integration_not_found", "There is no such app. The connections page lists all of them.");
}

/** @throws ServiceError 404 `connection_not_found`, 409 when its app is gone, 422 when that stopped working. */
async function findReconnectable(parts: ServiceParts, id: string): Promise<Target> {
  const { connection, integration } = await requireConnection(parts, id);
  if (integration?.stopped !== undefined) throw appStopped(integration);
  if (integration !== undefined) return { connection, integration };
  const message = `“${connection.label}” belongs to an app that is no longer installed. It can only be disconnected.`;
  throw new ServiceError(409, "integration_not_found", message);
}

/** What ends a sign-in: the return from a provider, a named client, and a typed code. Each counts in its own browser only. */
function addSignInPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { addPage, addForm } = ownerPages(app, parts);
  const { providerSignIns } = parts;
  const end = async (finished: FinishedSignIn, { csrfToken, person }: OwnerSession) => {
    const { slug, connectionId, form } = finished.wanted;
    const target = connectionId === undefined ? findNew(parts, slug) : await findReconnectable(parts, connectionId);
    const result = await settle(parts, target, finished);
    if (result.kind === "problems") return formPage(parts, target, { csrfToken, form, problems: result.problems });
    return findNext(parts, target, { ...result, by: person });
  };
  for (const path of [SIGNED_IN_PATH, `${SIGNED_IN_PATH}/:id`]) {
    addPage(path, async (c, owner) => {
      const { searchParams } = new URL(c.req.url);
      const shown = await end(await providerSignIns.finish(searchParams, owner.csrfToken, c.req.param("id")), owner);
      return typeof shown === "string" ? c.redirect(shown, 303) : shown;
    });
  }
  addForm("/sign-in/client", async (_c, { owner, form }) => {
    const { csrfToken } = owner;
    const [clientId = "", secret = ""] = ["client-id", "client-secret"].map((name) => form.get(name)?.trim());
    const client = { clientId, clientSecret: secret === "" ? undefined : secret };
    const step = await providerSignIns.nameClient(form.get("state") ?? "", csrfToken, client);
    return step.kind === "done" ? end(step, owner) : stepPage(parts, step, { name: "the provider", csrfToken });
  });
  addForm("/sign-in/code", async (_c, { owner, form }) => {
    const { csrfToken } = owner;
    const state = form.get("state") ?? "";
    const finished = await providerSignIns.poll(state, csrfToken);
    if (finished !== undefined) return end(finished, owner);
    throw new ServiceError(409, "conflict", "The code has not been typed at the provider yet. Go back and try again.");
  });
}
