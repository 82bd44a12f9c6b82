import { isSignInNeeded } from "../../apps/openapi/plan-sign-in.ts";
import { prepareOpenApi } from "../../apps/openapi/prepare-openapi.ts";
import type { SourceContent } from "../../apps/port/source-content.ts";
import type { CliContext } from "../context.ts";
import { type AddFlags, addSource, checkPlace } from "./add-source.ts";

interface OpenApiFlags extends AddFlags {
  readonly baseUrl?: string;
  readonly private?: true;
  readonly token?: true;
  readonly authUrl?: string;
  readonly tokenUrl?: string;
  readonly deviceUrl?: string;
  readonly issuer?: string;
  readonly scope?: readonly string[];
}

/** `svc add openapi`: adds the operations of an OpenAPI document as actions. */
export async function addOpenApi(
  context: CliContext,
  slug: string,
  document: string,
  flags: OpenApiFlags,
): Promise<number> {
  const { terminal, env } = context;
  await checkPlace(context, slug, flags);
  terminal.progress("  reading the document …");
  const { name, baseUrl, authUrl, tokenUrl, deviceUrl, issuer } = flags;
  const scopes = (flags.scope ?? []).flatMap((scope) => scope.split(/[\s,]+/)).filter((scope) => scope !== "");
  const signIn = { authUrl, tokenUrl, deviceUrl, issuer, scopes };
  const is = { isPrivate: flags.private === true, takesToken: flags.token === true };
  const place = { slug, document, name, baseUrl, signIn, ...is };
  const prepared = await prepareOpenApi(place).finally(() => terminal.endProgress());
  const { source } = prepared;
  const given = readGivenSettings(source.content.settingsForm, source, env);
  const needsSignIn = isSignInNeeded(source.definition, given.connection?.settings ?? {});
  const { connection, notes } = needsSignIn ? { connection: undefined, notes: [] } : given;
  return addSource(
    context,
    { source, notes: [...prepared.notes, ...notes], ...(connection === undefined ? {} : { connection }) },
    flags,
  );
}

/** The settings of an app that the owner gave while adding it. */
interface GivenSettings {
  /** Label and settings of a connection that can be created at once; undefined if the dashboard must ask the owner. */
  readonly connection: { readonly label: string; readonly settings: Readonly<Record<string, string>> } | undefined;
  /** How a script passes missing settings; empty when none is missing. */
  readonly notes: readonly string[];
}

/**
 * Reads settings from variables `SVC_<APP>_<SETTING>`, so that no key appears in a command line. The dashboard asks for
 * missing ones. An app whose keys are optional can do more with them, so its owner is asked unless they gave one.
 */
function readGivenSettings(
  form: SourceContent["settingsForm"],
  app: { readonly slug: string; readonly name: string },
  env: NodeJS.ProcessEnv,
): GivenSettings {
  const variable = (setting: string) => `SVC_${app.slug}_${setting}`.replaceAll(/[^A-Za-z0-9]/g, "_").toUpperCase();
  const given = form.flatMap(({ name }) => {
    const value = env[variable(name)];
    return value ? [[name, value] as const] : [];
  });
  const settings = Object.fromEntries(given);
  const isComplete = form.every(({ name, optional }) => optional === true || name in settings);
  if (form.length === 0 || (given.length > 0 && isComplete)) {
    return { connection: { label: app.name, settings }, notes: [] };
  }
  const variables = form.map(({ name }) => variable(name)).join(", ");
  return { connection: undefined, notes: [`In a script it is connected at once with ${variables} set.`] };
}
