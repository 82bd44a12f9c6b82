import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SignIn } from "../../src/pairing/credential-file.ts";
import { type SignInOptions, type SignInProgress, signIn } from "../../src/pairing/sign-in.ts";
import { openSignInStore, type SignInStore } from "../../src/pairing/sign-in-store.ts";
import type { TestService } from "../../src/testing.ts";
import { openOwnerBrowser } from "../service/oauth/oauth-client.ts";

/** A machine that may sign in: a folder for its secrets, removed at the end. */
export interface Machine {
  readonly folder: string;
  readonly store: SignInStore;
  close(): Promise<void>;
}

/** Makes a machine without any secrets. */
export async function openMachine(): Promise<Machine> {
  const folder = await mkdtemp(join(tmpdir(), "svc-sign-in-"));
  return { folder, store: openSignInStore(folder), close: () => rm(folder, { recursive: true, force: true }) };
}

/** What the person in front of the browser does with the link; `back` is where the browser is sent. */
type Human = (link: string, owner: Awaited<ReturnType<typeof openOwnerBrowser>>) => Promise<unknown>;

/** Presses Approve and lets the browser go back to the program. */
export const approve: Human = async (link, owner) => fetch(await owner.decide(link, "approve"));

/** Presses Decline and lets the browser go back. */
export const decline: Human = async (link, owner) => fetch(await owner.decide(link, "decline"));

/** Signs in to a service as its owner would, in a browser without scripts. */
export async function signInAt(
  service: Pick<TestService, "url" | "service">,
  store: SignInStore,
  { human = approve, onProgress, ...options }: Partial<SignInOptions> & { readonly human?: Human } = {},
): Promise<SignIn> {
  const owner = await openOwnerBrowser(await service.service.signInUrl());
  const acts: Promise<unknown>[] = [];
  const watch = (progress: SignInProgress) => {
    onProgress?.(progress);
    if (progress.kind === "started") acts.push(human(progress.signInUrl, owner));
  };
  const signedIn = signIn({ baseUrl: service.url, store, onProgress: watch, ...options });
  const [outcome] = await Promise.allSettled([signedIn]);
  await Promise.all(acts);
  if (outcome.status === "rejected") throw outcome.reason;
  return outcome.value;
}
