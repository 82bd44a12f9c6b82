import { serveMcp } from "../../plugin/runtimes/mcp/serve-mcp.ts";
import { readVersion } from "../../shared/base/version.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import type { McpClientName } from "../mcp-client-names.ts";
import { findKeyFolder, openClient } from "../open-session.ts";
import { MOST_SECONDS, readTimeout, wholeNumber } from "../settings.ts";

interface McpFlags {
  readonly client?: McpClientName;
  readonly baseUrl?: string;
  readonly tools?: readonly string[];
  readonly maxToolTokens: string;
  readonly wait: string;
  readonly timeout?: string;
}

/** More than any model reads. */
const MOST_TOKENS = 10_000_000;

/** `svc mcp`: serves the tools to the MCP client that started it, until that closes the input. Logs go to stderr. */
export async function mcp(context: CliContext, flags: McpFlags): Promise<number> {
  const waitMs = wholeNumber(flags.wait, "--wait", 1, MOST_SECONDS) * 1_000;
  const maxToolTokens = wholeNumber(flags.maxToolTokens, "--max-tool-tokens", 0, MOST_TOKENS);
  const keyFolder = flags.client && findKeyFolder(context.places, flags.client);
  const { client, settings } = await openClient(context, flags, keyFolder);
  try {
    await serveMcp({
      session: {
        client,
        mediaRoots: settings.mediaRoots,
        stateDir: context.places.state,
        upload: settings.upload,
        validation: settings.validation,
        ...readTimeout(flags),
      },
      version: await readVersion(),
      tools: flags.tools ?? [],
      maxToolTokens,
      waitMs,
      input: context.input,
      output: process.stdout,
      log: (line) => void process.stderr.write(`svc: ${line}\n`),
      signal: context.signal,
    });
  } finally {
    await client.close();
  }
  return EXIT.ok;
}
