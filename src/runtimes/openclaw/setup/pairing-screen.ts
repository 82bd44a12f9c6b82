import type { PairProgress } from "../../../pairing/pair.ts";
import type { HostAuthContext } from "../host/host-sign-in.ts";

/** A pairing as the host shows it. */
export interface PairingScreen {
  /** Ends the pairing when the host cancels it or can show nothing any more. */
  readonly signal: AbortSignal;
  /** Why the host could not show something; undefined while it can. */
  readonly failure: unknown;
  onProgress(progress: PairProgress): void;
  /** Waits until everything is shown. */
  close(line: string): Promise<void>;
}

/** Shows link and code through the host's sign-in screen: opens the link where the host can, and always writes it out. */
export function createPairingScreen(context: HostAuthContext): PairingScreen {
  const stop = new AbortController();
  const signal = context.signal === undefined ? stop.signal : AbortSignal.any([stop.signal, context.signal]);
  let shown: Promise<void> = Promise.resolve();
  let failure: unknown;
  let waiting: ReturnType<typeof context.prompter.progress> | undefined;
  const announce = async (progress: PairProgress & { kind: "started" }) => {
    await showLink(context, progress);
    waiting = context.prompter.progress("Waiting for approval in the browser");
  };
  return {
    signal,
    get failure() {
      return failure;
    },
    onProgress(progress) {
      if (progress.kind === "waiting")
        waiting?.update(`Waiting for approval, ${Math.round(progress.elapsedMs / 1000)} s`);
      if (progress.kind !== "started") return;
      shown = announce(progress).catch((error: unknown) => {
        failure = error;
        stop.abort();
      });
    },
    async close(line) {
      await shown;
      waiting?.stop(line);
    },
  };
}

async function showLink(
  { prompter, openUrl }: HostAuthContext,
  { pairUrl, displayCode, expiresAt }: PairProgress & { kind: "started" },
): Promise<void> {
  // No browser, no display: the link is written out in any case.
  await openUrl(pairUrl).catch(() => undefined);
  const title = "Pair with svc";
  const message = `Open this link and approve the device: ${pairUrl}`;
  if (displayCode === undefined) return prompter.note(message, title);
  const compare = "Approve only if the page shows this code.";
  if (prompter.deviceCode === undefined) {
    return prompter.note(`${message}\nCode: ${displayCode}. ${compare}`, title);
  }
  const minutes = Math.round((Date.parse(expiresAt) - Date.now()) / 60_000);
  const expiresInMinutes = minutes > 0 ? { expiresInMinutes: minutes } : {};
  return prompter.deviceCode({ title, code: displayCode, ...expiresInMinutes, message: `${message}\n${compare}` });
}
