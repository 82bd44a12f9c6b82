import { isSvcError } from "../../errors.ts";
import type { CliContext } from "../context.ts";
import { EXIT, exitCodeFor } from "../exit-codes.ts";
import { type OpenClient, openClient } from "../open-session.ts";
import { type Terminal, wrapWords } from "../terminal.ts";

/** `svc status`: address, origin of the key and whether the service accepts it; exit code 3 when it does not. */
export async function status(context: CliContext, flags: { baseUrl?: string }): Promise<number> {
  const opened = await openClient(context, flags);
  const { client, settings } = opened;
  const { terminal } = context;
  try {
    const page = await client.listTools({ limit: 1 }, { signal: context.signal });
    const access = await describeKey(opened);
    const answer = {
      baseUrl: client.baseUrl,
      ...access.facts,
      works: true,
      tools: page.total ?? page.tools.length,
      mediaRoots: settings.mediaRoots,
    };
    terminal.answer(answer, () =>
      [
        access.title,
        namePaths(terminal, "Key accepted, from", [access.facts.key]),
        `Tools: ${answer.tools}`,
        namePaths(terminal, "Files may be attached from", answer.mediaRoots),
        'Next: "svc tools", or "svc search <words>".',
      ].join("\n"),
    );
    return EXIT.ok;
  } catch (error) {
    if (!isSvcError(error) || context.signal.aborted) throw error;
    const { code, message } = error;
    const exitCode = exitCodeFor(error);
    const verdict =
      exitCode === EXIT.notPaired
        ? `${client.baseUrl} does not work with this key`
        : "Whether this key works is not known";
    terminal.answer({ baseUrl: client.baseUrl, works: false, code, message }, () =>
      [`${verdict}: ${message}`, error.hint ?? ""]
        .map((text) => wrapWords(text, terminal.columns, "  "))
        .join("\n")
        .trimEnd(),
    );
    return exitCode;
  } finally {
    await client.close();
  }
}

/** The key's origin, for programs and for people. */
async function describeKey({ client, settings, credentials }: OpenClient) {
  const stored = settings.apiKey ? undefined : await credentials.read();
  const facts = {
    key: stored ? credentials.path : "SVC_API_KEY",
    deviceLabel: stored?.deviceLabel ?? null,
    pairedAt: stored?.pairedAt ?? null,
  };
  const label = facts.deviceLabel ? ` as "${facts.deviceLabel}"` : "";
  return { facts, title: `Paired with ${client.baseUrl}${label}` };
}

/** Paths behind what they are, each on a line of its own where the terminal would break them: they are to be copied. */
function namePaths({ columns = Infinity }: Terminal, what: string, paths: readonly string[]): string {
  const line = `${what}: ${paths.join(", ")}`;
  return line.length <= columns ? line : [`${what}:`, ...paths.map((path) => `  ${path}`)].join("\n");
}
