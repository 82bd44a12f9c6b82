import { isSvcError } from "../../errors.ts";
import type { CliContext } from "../context.ts";
import { EXIT, exitCodeFor } from "../exit-codes.ts";
import { type OpenClient, openClient } from "../open-session.ts";
import type { Terminal } from "../terminal.ts";
import { wrapWords } from "../wrap-words.ts";

/** `svc status`: address, what the access rests on and whether the service accepts it; exit code 3 when it does not. */
export async function status(context: CliContext, flags: { baseUrl?: string }): Promise<number> {
  const opened = await openClient(context, flags);
  const { client, settings } = opened;
  const { credential } = client;
  const { terminal } = context;
  try {
    const page = await client.listTools({ limit: 1 }, { signal: context.signal });
    const access = await describeAccess(opened);
    const answer = {
      baseUrl: client.baseUrl,
      credential,
      ...access.facts,
      works: true,
      tools: page.total ?? page.tools.length,
      mediaRoots: settings.mediaRoots,
    };
    terminal.answer(answer, () =>
      [
        access.title,
        namePaths(terminal, access.kind, [access.place]),
        `Tools: ${answer.tools}`,
        credential === "oauth"
          ? 'Flows and files of this machine need a key: "svc pair".'
          : namePaths(terminal, "Files may be attached from", answer.mediaRoots),
        'Next: "svc tools", or "svc search <words>".',
      ].join("\n"),
    );
    return EXIT.ok;
  } catch (error) {
    if (!isSvcError(error) || context.signal.aborted) throw error;
    const { code, message } = error;
    const exitCode = exitCodeFor(error);
    const access = credential === "oauth" ? "sign-in" : "key";
    const verdict =
      exitCode === EXIT.notPaired
        ? `${client.baseUrl} does not work with this ${access}`
        : `Whether this ${access} works is not known`;
    terminal.answer({ baseUrl: client.baseUrl, credential, works: false, code, message }, () =>
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

/** What the access rests on, for programs and for people. */
async function describeAccess({ client, settings, credentials, signIns }: OpenClient) {
  if (client.credential === "oauth") {
    const signIn = await signIns.read();
    const facts = { signIn: signIns.path, signedInAt: signIn?.signedInAt ?? null };
    const since = signIn === undefined ? "" : ` since ${signIn.signedInAt}`;
    const title = `Signed in to ${client.baseUrl}${since}`;
    return { facts, title, kind: "Sign-in accepted, from", place: signIns.path };
  }
  const stored = settings.apiKey ? undefined : await credentials.read();
  const facts = {
    key: stored ? credentials.path : "SVC_API_KEY",
    deviceLabel: stored?.deviceLabel ?? null,
    pairedAt: stored?.pairedAt ?? null,
  };
  const label = facts.deviceLabel ? ` as "${facts.deviceLabel}"` : "";
  return { facts, title: `Paired with ${client.baseUrl}${label}`, kind: "Key accepted, from", place: facts.key };
}

/** Paths behind what they are, each on a line of its own where the terminal would break them: they are to be copied. */
function namePaths({ columns = Infinity }: Terminal, what: string, paths: readonly string[]): string {
  const line = `${what}: ${paths.join(", ")}`;
  return line.length <= columns ? line : [`${what}:`, ...paths.map((path) => `  ${path}`)].join("\n");
}
