import type { Integration, Suggestion } from "../../../apps/port/integration.ts";
import type { Connection } from "../../connections/connection.ts";
import {
  type ConnectionForm,
  type FormProblems,
  listMissingScopes,
  MAX_SETTING,
} from "../../connections/connection-form.ts";
import type { ServiceParts } from "../service-parts.ts";
import { connectBody, reconnectBody } from "./connect-form.ts";
import type { Page } from "./page.ts";

/** The app, and the connection, that a form is for. */
export interface Target {
  readonly integration: Integration;
  /** The connection to reconnect; undefined for a new one. */
  readonly connection: Connection | undefined;
}

/** The form: empty or with the settings so far; with what was typed or suggested, and with what is wrong with it. */
export async function formPage(
  parts: ServiceParts,
  target: Target,
  o: {
    readonly csrfToken: string;
    readonly form?: Partial<ConnectionForm>;
    readonly problems?: FormProblems;
    readonly suggestion?: Suggestion | undefined;
    readonly isFirstStep?: boolean;
  },
): Promise<Page> {
  const { integration, connection } = target;
  const { problems = new Map(), isFirstStep = false } = o;
  const kept =
    problems.size === 0 ? undefined : await keepSecrets(parts, target, { ...o, typed: o.form?.values ?? {} });
  const page = { section: "connections", status: problems.size === 0 ? 200 : 400 } as const;
  if (connection !== undefined) {
    const form = { ...showSettings(integration, connection), ...o.form };
    const body = reconnectBody({ ...o, integration, problems, form, connection, kept });
    return { ...page, title: `Reconnect ${connection.label}`, body };
  }
  const connections = await parts.connections.list(integration.slug);
  const known = connections.find(({ isDefault }) => isDefault);
  const form: ConnectionForm = {
    label: connections.length === 0 ? integration.name : "",
    access: "full",
    values: {},
    // Nobody wants the empty folder of the first start once there is a real account.
    isDefault: known !== undefined && parts.connector.isFirstApp(known),
    ...o.form,
  };
  const unwell = o.form === undefined ? connections.filter(({ state }) => state !== "healthy") : [];
  const body = connectBody({
    ...o,
    integration,
    problems,
    form,
    kept,
    unwell,
    defaultLabel: known?.label,
    isFirstStep,
  });
  return { ...page, title: `Connect ${integration.name}`, body };
}

/** What the owner sent, with the secrets that they typed the time before and left alone now. */
export async function readForm(
  parts: ServiceParts,
  target: Target,
  { sent, csrfToken }: { sent: URLSearchParams; csrfToken: string },
): Promise<ConnectionForm> {
  const { settingsForm = [] } = target.integration;
  const place = { browser: csrfToken, form: formPath(target) };
  const kept = await parts.keptSecrets.take(sent.get("kept") ?? "", place);
  const values = settingsForm.map(({ name, kind }) => {
    const typed = sent.getAll(`set.${name}`).join(" ");
    return [name, kind === "secret" && typed === "" ? (kept[name] ?? "") : typed] as const;
  });
  return {
    label: sent.get("label") ?? "",
    access: sent.get("access") === "read" ? "read" : "full",
    isDefault: sent.get("default") === "yes",
    values: Object.fromEntries(values),
  };
}

/** Keeps the typed secrets for the next attempt; undefined when there are none. */
async function keepSecrets(
  { keptSecrets }: ServiceParts,
  target: Target,
  { csrfToken, typed }: { csrfToken: string; typed: ConnectionForm["values"] },
): Promise<{ token: string; names: ReadonlySet<string> } | undefined> {
  const names = (target.integration.settingsForm ?? []).filter(({ kind }) => kind === "secret").map(({ name }) => name);
  const secrets = names.flatMap((name) => {
    const value = typed[name] ?? "";
    return value === "" || value.length > MAX_SETTING ? [] : [[name, value] as const];
  });
  if (secrets.length === 0) return undefined;
  const place = { browser: csrfToken, form: formPath(target) };
  const token = await keptSecrets.keep(place, Object.fromEntries(secrets));
  return { token, names: new Set(secrets.map(([name]) => name)) };
}

function formPath({ integration, connection }: Target): string {
  return connection === undefined ? `/connect/${integration.slug}` : `/connections/${connection.id}/reconnect`;
}

function showSettings(integration: Integration, connection: Connection): ConnectionForm {
  const texts = (integration.settingsForm ?? []).flatMap(({ name, kind }) => {
    const value = connection.settings[name];
    return kind !== "secret" && typeof value === "string" ? [[name, value] as const] : [];
  });
  return {
    label: connection.label,
    access: listMissingScopes(integration, connection).length === 0 ? "full" : "read",
    values: Object.fromEntries(texts),
  };
}
