import { prepareOpenApi } from "../../service/sources/openapi/prepare-openapi.ts";
import type { CliContext } from "../context.ts";
import { type AddFlags, addSource, checkPlace } from "./add-source.ts";
import { readGivenSettings } from "./given-settings.ts";

interface OpenApiFlags extends AddFlags {
  readonly baseUrl?: string;
  readonly private?: true;
  readonly token?: true;
}

/** `svc add openapi`: makes actions of the operations of an OpenAPI document. */
export async function addOpenApi(
  context: CliContext,
  slug: string,
  document: string,
  flags: OpenApiFlags,
): Promise<number> {
  const { terminal, env } = context;
  await checkPlace(context, slug, flags);
  terminal.progress("  reading the document …");
  const { name, baseUrl } = flags;
  const place = { slug, document, name, baseUrl, isPrivate: flags.private === true, takesToken: flags.token === true };
  const prepared = await prepareOpenApi(place).finally(() => terminal.endProgress());
  const { source } = prepared;
  const { connection, notes } = readGivenSettings(source.content.settingsForm, source, env);
  return addSource(
    context,
    { source, notes: [...prepared.notes, ...notes], ...(connection === undefined ? {} : { connection }) },
    flags,
  );
}
