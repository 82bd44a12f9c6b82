import { createCatalog } from "../../tools/catalog.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { openClient } from "../open-session.ts";
import { formatTools, toJson } from "./tools.ts";
import { wholeNumber } from "./whole-number.ts";

interface SearchFlags {
  readonly baseUrl?: string;
  readonly integration?: string;
  readonly limit: string;
}

/** `svc search`: tools ranked by the service for some words. */
export async function search(context: CliContext, words: string[], flags: SearchFlags): Promise<number> {
  const { client } = await openClient(context, flags);
  const catalog = createCatalog({ client });
  try {
    const limit = wholeNumber(flags.limit, "--limit", 1, 200);
    const query = { query: words.join(" "), limit, ...(flags.integration ? { integration: flags.integration } : {}) };
    const found = await catalog.search(query, context.signal);
    context.terminal.answer(found.map(toJson), () => formatTools(context.terminal, found));
    return EXIT.ok;
  } finally {
    await catalog.close();
    await client.close();
  }
}
