import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { decideAsOwner } from "../../../src/service/test-kit/decide-as-owner.ts";
import { startSvc } from "../run-svc.ts";
import type { WatchedProcess } from "../watch-process.ts";

/** A service in a process of its own, and a key for it. */
export interface ServedService {
  readonly process: WatchedProcess;
  readonly url: string;
  readonly apiKey: string;
}

/** Runs `svc serve` and pairs with it, as a person would. */
export async function serveAndPair(home: string): Promise<ServedService> {
  const served = startSvc(["serve", "--port", "0"], home);
  const url = (await served.waitFor(/Listening on (\S+)/))[1] ?? "";
  const signInUrl = (await served.waitFor(/Sign in: (\S+)/))[1] ?? "";
  const pairing = startSvc(["pair", "--base-url", url, "--label", "Test"], home);
  const pairUrl = (await pairing.waitFor(/(http:\/\/\S+\/pair\/\S+)/))[1] ?? "";
  await decideAsOwner({ signInUrl, pairUrl, decision: "approve" });
  const { code, stderr } = await pairing.done;
  if (code !== 0) throw new Error(stderr);
  const credentials = await readFile(join(home, "config", "credentials.json"), "utf8");
  const apiKey = /svc_live_[A-Za-z0-9_-]+/.exec(credentials)?.[0];
  if (apiKey === undefined) throw new Error("The credentials file holds no key.");
  return { process: served, url, apiKey };
}
