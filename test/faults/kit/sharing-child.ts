import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { openCredentialFile } from "../../../src/plugin/pairing/credentials.ts";
import { openFaultSession } from "./fault-lab.ts";

/**
 * One of several processes that share a folder of credentials and a state folder. It changes its own part of the
 * credentials, or none, and opens sessions that write, until it is killed. Prints what it finds wrong, and each turn it made.
 */

const [folder = "", url = "", apiKey = "", part = "", name = ""] = process.argv.slice(2);
const file = openCredentialFile(join(folder, "config"));

async function changeCredentials(value: string): Promise<void> {
  if (part === "nothing") {
    return file.update((content) => {
      // Holds the lock, and the others wait for it.
      if (value.endsWith("-1-5")) process.kill(process.pid, "SIGKILL");
      return content;
    });
  }
  const readOwn = async () => {
    const { credentials, pending } = await file.read();
    return part === "credentials" ? credentials?.apiKey : pending?.verifier;
  };
  await file.update((content) => {
    if (part === "credentials") {
      return { ...content, credentials: { baseUrl: url, apiKey: value, apiKeyId: "1", pairedAt: "2026-01-01" } };
    }
    const times = { startedAt: "2026-01-01", expiresAt: "2026-01-01" };
    return { ...content, pending: { baseUrl: url, sessionToken: "t", verifier: value, pairUrl: url, ...times } };
  });
  const seen = await readOwn();
  if (seen !== value) console.log(`lost ${value}: found ${seen}`);
}

async function callTool(callId: string): Promise<void> {
  const { session, close } = await openFaultSession(
    { url, apiKey },
    {
      stateDir: join(folder, "state"),
      // A call waits while another process sends on the account.
      sleep: (ms) => delay(ms),
      onEvent: (event) => {
        if (event.type === "cache_rebuilt") console.log(`damaged cache: ${event.reason}`);
      },
    },
  );
  await session.catalog.load();
  const { status, code } = await session.call({ callId, toolName: "probe_write_text", arguments: { text: callId } });
  if (status !== "succeeded") console.log(`wrong ${callId}: ${status} ${code}`);
  await close();
}

for (let turn = 0; ; turn += 1) {
  for (let change = 0; change < 10; change += 1) await changeCredentials(`${name}-${turn}-${change}`);
  await callTool(`${name}-${turn}`);
  console.log(`turn ${turn}`);
}
