import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { request } from "undici";
import { SvcClient } from "../../plugin/client/client.ts";
import { openCredentialStore } from "../../plugin/pairing/credentials.ts";
import { pairDevice } from "../../plugin/pairing/pair.ts";
import { SvcError } from "../../shared/errors.ts";
import { type CliContext, type Places, placesUnder } from "../context.ts";
import type { DemoFlags } from "../demo/play-agent.ts";
import { deliverSampleMail, writeSampleAttachment } from "../demo/sample-content.ts";
import { showApprovalWait } from "./access.ts";

/**
 * `svc demo`: a real service process, pairing and agent. The agent reads mail, then wants to save a local file and is
 * stopped until a human approves. Only the model is scripted, unless `--model` names one.
 */
export async function demo(context: CliContext, flags: DemoFlags): Promise<number> {
  const { terminal } = context;
  // Loaded first: without LangChain the demo must fail before it starts anything.
  const { playAgent, checkModel, heading } = await loadAgentPart();
  if (flags.model !== undefined) await checkModel(flags.model);
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

/** Pairs like `svc pair`. Each run makes a new key, because the approval page is the point of the demo. */
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

type ServedChild = Awaited<ReturnType<typeof startServe>>;

/** Longest wait for the address and the sign-in link, in milliseconds. */
const START_LIMIT_MS = 30_000;

/**
 * Starts the real `svc serve` on a data folder and a free port, and reads its address and sign-in link from the output.
 */
async function startServe(dataDir: string) {
  // This file's extension tells whether the sources or the built package run.
  const bin = fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "../../bin.ts" : "./bin.js", import.meta.url));
  const child = fork(bin, ["serve", "--port", "0", "--data", dataDir], {
    execArgv: [],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const stop = () => stopChild(child);
  try {
    return { ...(await readAddresses(child)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function readAddresses(child: ChildProcess): Promise<{ url: string; signInUrl: string }> {
  const errors: string[] = [];
  child.stderr?.setEncoding("utf8").on("data", (text: string) => errors.push(text));
  let url: string | undefined;
  const timer = setTimeout(() => child.kill(), START_LIMIT_MS);
  try {
    for await (const line of createInterface({ input: child.stdout ?? process.stdin })) {
      url ??= line.match(/^Listening on (\S+)/)?.[1];
      const signInUrl = line.match(/^Sign in: (\S+)/)?.[1];
      if (url !== undefined && signInUrl !== undefined) {
        child.stdout?.resume();
        return { url, signInUrl };
      }
    }
  } finally {
    clearTimeout(timer);
  }
  throw new SvcError("unreachable", `The service did not start. ${errors.join("").trim()}`);
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}

/**
 * Plays the human of an unattended demo: opens the one-time sign-in link, then the approval page, and presses Approve,
 * with the same requests as a browser.
 */
export async function pressApprove(signInUrl: string, pairUrl: string): Promise<void> {
  const signedIn = await press({ url: new URL(signInUrl), button: "Sign in", cookie: "" });
  const cookie = readCookies(signedIn.headers["set-cookie"]);
  if (cookie === "") throw failed("the sign-in set no session");
  // The sign-in redirects to the home page; the session's other pages are below it.
  const home = new URL(String(signedIn.headers.location), signInUrl);
  const url = new URL(new URL(pairUrl).pathname.slice(1), home);
  const answer = await press({ url, button: "Approve", cookie });
  if (answer.statusCode >= 400) throw failed(`the Approve button answered ${answer.statusCode}`);
}

async function press({ url, button, cookie }: { url: URL; button: string; cookie: string }) {
  const page = await request(url, { headers: { cookie } });
  const form = readForm(await page.body.text(), button);
  if (form === undefined) throw failed(`a page answered ${page.statusCode} without “${button}”`);
  const action = new URL(form.action, url);
  const answer = await request(action, {
    method: "POST",
    headers: {
      cookie,
      origin: action.origin,
      "sec-fetch-site": "same-origin",
      "content-type": "application/x-www-form-urlencoded",
    },
    body: new URLSearchParams(form.fields).toString(),
  });
  await answer.body.dump();
  return answer;
}

const failed = (what: string) =>
  new SvcError("pairing_failed", `The unattended approval did not work: ${what}.`, {
    hint: "Run the demo without --unattended and approve in a browser.",
  });

function readCookies(header: string | string[] | undefined): string {
  return [header ?? []]
    .flat()
    .map((line) => line.split(";", 1)[0])
    .join("; ");
}

/** Reads the form whose button begins with `label`: its action, and the fields that a browser would send. */
function readForm(
  html: string,
  label: string,
): { action: string; fields: [name: string, value: string][] } | undefined {
  for (const [, attributes = "", inner = ""] of html.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)) {
    const button = inner.match(new RegExp(`<button\\b([^>]*)>\\s*${label}\\b`));
    const action = readAttribute(attributes, "action");
    if (!button || action === undefined) continue;
    const controls = [...inner.matchAll(/<input\b([^>]*)>/g)].map((match) => match[1] ?? "");
    const fields = [...controls, button[1] ?? ""].flatMap((control): [string, string][] => {
      const name = readAttribute(control, "name");
      const isOff = /\btype="(checkbox|radio)"/.test(control) && !/\bchecked\b/.test(control);
      return name === undefined || isOff ? [] : [[name, readAttribute(control, "value") ?? ""]];
    });
    return { action, fields };
  }
  return undefined;
}

function readAttribute(attributes: string, name: string): string | undefined {
  return attributes
    .match(new RegExp(`\\b${name}="([^"]*)"`))?.[1]
    ?.replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&");
}
