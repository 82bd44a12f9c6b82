import { isSvcError } from "../../errors.ts";
import type { CliContext } from "../context.ts";
import { EXIT, exitCodeFor } from "../exit-codes.ts";
import { openClient } from "../open-session.ts";

/** `svc status`: address, key origin and whether the service accepts the key; exit code 3 when it does not. */
export async function status(context: CliContext, flags: { baseUrl?: string }): Promise<number> {
  const { client, settings, credentials } = await openClient(context, flags);
  const stored = settings.apiKey ? undefined : await credentials.read();
  try {
    const page = await client.listTools({ limit: 1 }, { signal: context.signal });
    const answer = {
      baseUrl: client.baseUrl,
      key: stored ? credentials.path : "SVC_API_KEY",
      deviceLabel: stored?.deviceLabel ?? null,
      pairedAt: stored?.pairedAt ?? null,
      works: true,
      tools: page.total ?? page.tools.length,
      mediaRoots: settings.mediaRoots,
    };
    context.terminal.answer(answer, () =>
      [
        `Paired with ${answer.baseUrl}${answer.deviceLabel ? ` as "${answer.deviceLabel}"` : ""}`,
        `Key: from ${answer.key}, accepted`,
        `Tools: ${answer.tools}`,
        `Files may be attached from: ${answer.mediaRoots.join(", ")}`,
        'Next: "svc tools", or "svc search <words>".',
      ].join("\n"),
    );
    return EXIT.ok;
  } catch (error) {
    if (!isSvcError(error)) throw error;
    context.terminal.answer({ baseUrl: client.baseUrl, works: false, code: error.code, message: error.message }, () =>
      [`${client.baseUrl} does not work with this key: ${error.message}`, error.hint].filter(Boolean).join("\n"),
    );
    return exitCodeFor(error);
  } finally {
    await client.close();
  }
}
