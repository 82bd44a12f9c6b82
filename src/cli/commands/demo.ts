import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { SvcClient } from "../../client/client.ts";
import { SvcError } from "../../errors.ts";
import { openCredentialStore } from "../../pairing/credentials.ts";
import { pairDevice } from "../../pairing/pair.ts";
import type { CliContext } from "../context.ts";
import { pressApprove } from "../demo/press-approve.ts";
import { deliverSampleMail, writeSampleAttachment } from "../demo/sample-content.ts";
import { type ServedChild, startServe } from "../demo/serve-child.ts";
import { type DemoFlags, heading } from "../demo/stage.ts";
import { type Places, placesUnder } from "../places.ts";
import { showApprovalWait } from "../show-approval-wait.ts";

/**
 * `svc demo`: a real service process, a real pairing, a real agent. It reads mail, then wants to save a local file
 * and is stopped until a human has said yes. Only the model is scripted, unless `--model` names one.
 */
export async function demo(context: CliContext, flags: DemoFlags): Promise<number> {
  const { terminal } = context;
  // Loaded first: without LangChain there is nothing to show, and nothing should have been started.
  const { playAgent } = await loadAgentPart();
  if (flags.model !== undefined) await (await import("../demo/check-model.ts")).checkModel(flags.model);
  const isTemporary = flags.data === undefined;
  const home = flags.data === undefined ? await mkdtemp(join(tmpdir(), "svc-demo-")) : resolve(flags.data);
  const places = placesUnder(home);
  heading(context, 1, "A service on this machine");
  terminal.say(`Everything is kept in ${home}${isTemporary ? ", removed at the end" : ""}.`);
  let served: ServedChild | undefined;
  try {
    const attachment = await writeSampleAttachment(places.media);
    terminal.progress("  starting");
    served = await startServe(places.service);
    await deliverSampleMail(join(places.service, "mail"));
    terminal.endProgress(`Listening on ${terminal.style("cyan", served.url)}`);
    heading(context, 2, "Pairing: a human lets this device in");
    const credentials = await pairDemo(context, flags, places, served);
    return await playAgent({ context, flags, places, credentials, attachment });
  } finally {
    terminal.endProgress();
    await served?.stop();
    if (isTemporary) await rm(home, { recursive: true, force: true });
  }
}

async function loadAgentPart() {
  try {
    return await import("../demo/play-agent.ts");
  } catch (cause) {
    throw new SvcError("unsupported", 'The demo\'s agent needs the packages "langchain" and "@langchain/core".', {
      hint: "Install them next to this package: npm install langchain @langchain/core",
      cause,
    });
  }
}

/** Pairs as `svc pair` does; each run makes its own key, as the page it shows is the point of the demo. */
async function pairDemo(context: CliContext, flags: DemoFlags, places: Places, served: ServedChild) {
  const { terminal } = context;
  const client = new SvcClient({ baseUrl: served.url });
  const played = new AbortController();
  if (!flags.unattended) {
    terminal.say(`First sign in with this one-time link: ${terminal.style("cyan", served.signInUrl)}`);
  }
  try {
    return await pairDevice({
      client,
      credentials: openCredentialStore(places.config),
      deviceLabel: "svc demo",
      clientKind: "cli",
      signal: AbortSignal.any([context.signal, played.signal]),
      onProgress: (progress) => {
        showApprovalWait(terminal, progress);
        if (progress.kind !== "started" || !flags.unattended) return;
        terminal.say("[unattended] Signing in with the one-time link and pressing Approve, as a human would.");
        pressApprove(served.signInUrl, progress.pairUrl).catch((error) => played.abort(error));
      },
    });
  } catch (error) {
    throw played.signal.aborted ? played.signal.reason : error;
  } finally {
    await client.close();
  }
}
