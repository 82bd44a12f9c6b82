import { SvcError } from "../../errors.ts";
import type { SourceDesk } from "../../service/sources/open-source-desk.ts";
import type { IntegrationSource } from "../../service/sources/source.ts";

/** The added app of this short name. Throws SvcError `invalid_config`, field `app`, naming those there are. */
export async function findAdded(desk: SourceDesk, slug: string): Promise<IntegrationSource> {
  const source = await desk.find(slug);
  if (source !== undefined) return source;
  const names = (await desk.list()).map((item) => item.slug);
  throw new SvcError("invalid_config", `No app "${slug}" was added to this service.`, {
    field: "app",
    hint: names.length === 0 ? 'Add one with "svc add".' : `Added apps: ${names.join(", ")}.`,
  });
}
