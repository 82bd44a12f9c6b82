import type { Integration, SettingField } from "../integrations/integration.ts";
import { cleanText } from "../registration/clean-text.ts";
import { ServiceError } from "../service-error.ts";
import { checkFolder } from "./check-folder.ts";
import { type ConnectionForm, type FormProblems, readSettings } from "./connection-form.ts";
import type { Connection, Connections } from "./connections.ts";
import { listScopes } from "./scopes.ts";

/** How a form was taken: with a healthy connection, or with what is wrong in it. */
type ConnectResult =
  | { readonly ok: true; readonly connection: Connection }
  | { readonly ok: false; readonly problems: FormProblems };

/** Longest name of a connection, in characters. */
const MAX_LABEL = 60;

/** Connects apps for their owner: unlike {@link Connections} it stores only settings that work. */
export interface Connector {
  /** The first connection of an app becomes its default. */
  connect(integration: Integration, form: ConnectionForm): Promise<ConnectResult>;
  /** Makes a connection healthy again with new settings and scopes; its id stays. */
  reconnect(integration: Integration, connection: Connection, form: ConnectionForm): Promise<ConnectResult>;
}

/** Creates the connector. What the service itself keeps in its own folders is never connected. */
export function createConnector(o: { connections: Connections; ownFolders: readonly string[] }): Connector {
  const { connections } = o;

  async function check(integration: Integration, form: ConnectionForm, current?: Connection["settings"]) {
    const fields = integration.settingsForm ?? [];
    const { settings, problems } = readSettings(fields, form.values, current);
    for (const { name, kind } of fields) {
      const path = settings[name];
      if (kind !== "folder" || typeof path !== "string" || problems.has(name)) continue;
      for (const folder of o.ownFolders) {
        const problem = await checkFolder(path, folder);
        if (problem !== undefined) problems.set(name, problem);
      }
    }
    if (problems.size === 0) {
      const [name, problem] = (await findProblem(integration, settings)) ?? [];
      if (name !== undefined && problem !== undefined) problems.set(name, problem);
    }
    return { settings, problems };
  }

  return {
    async connect(integration, form) {
      const { settings, problems } = await check(integration, form);
      if (problems.size > 0) return { ok: false, problems };
      const isFirst = (await connections.list(integration.slug)).length === 0;
      const connection = await connections.add({
        integration: integration.slug,
        label: readLabel(form, integration.name),
        settings,
        scopes: listScopes(integration, form.access),
        isDefault: isFirst,
      });
      return { ok: true, connection };
    },

    async reconnect(integration, { id, label, settings: current }, form) {
      const { settings, problems } = await check(integration, form, current);
      if (problems.size > 0) return { ok: false, problems };
      const scopes = listScopes(integration, form.access);
      const change = { state: "healthy", scopes, settings, label: readLabel(form, label) } as const;
      return { ok: true, connection: await connections.update(id, change) };
    },
  };
}

/** The name typed for a connection, cleaned; `fallback` when it is empty. */
export function readLabel({ label }: Pick<ConnectionForm, "label">, fallback: string): string {
  return cleanText(label, MAX_LABEL) ?? fallback;
}

/** What the integration says against the settings, and at which field; undefined when they work. */
async function findProblem(
  integration: Integration,
  settings: Readonly<Record<string, unknown>>,
): Promise<[field: string, problem: string] | undefined> {
  try {
    await integration.checkSettings(settings);
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return [findField(integration.settingsForm ?? [], error)?.name ?? "", error.message];
  }
}

function findField(fields: readonly SettingField[], { options }: ServiceError): SettingField | undefined {
  return fields.find((field) => field.name === options.extra?.setting);
}
