import type { BootstrapProgress } from "../pairing/bootstrap.ts";
import type { PairProgress } from "../pairing/pair.ts";
import type { Terminal } from "./terminal.ts";

/** Prints one step of a pairing or an installation that a human approves on a page of the service. */
export function showApprovalWait(terminal: Terminal, progress: PairProgress | BootstrapProgress): void {
  if (progress.kind === "started") {
    const [what, link] = "pairUrl" in progress ? ["device", progress.pairUrl] : ["installation", progress.approvalUrl];
    terminal.say(`Open this link and approve the ${what}: ${terminal.style("cyan", link)}`);
    if (progress.displayCode !== undefined) {
      terminal.say(`Check that the page shows the code ${terminal.style("bold", progress.displayCode)}`);
    }
    terminal.say(`Waiting until ${new Date(progress.expiresAt).toLocaleTimeString("en-GB")} …`);
    return;
  }
  if (progress.kind === "waiting") {
    terminal.progress(`  waiting for approval, ${Math.round(progress.elapsedMs / 1000)} s`);
    return;
  }
  terminal.endProgress(terminal.style("green", "Approved."));
}
