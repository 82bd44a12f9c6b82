import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestService } from "../../../src/testing.ts";
import { runSvc, startSvc } from "../../e2e/run-svc.ts";
import type { WatchedProcess } from "../../e2e/watch-process.ts";
import { closeAll, closeLater, makeFolder } from "../../plugin/calls/open-test-session.ts";
import { waitForTool } from "../../service/added/wait-for-tool.ts";
import { execute } from "../../service/http-calls.ts";

/** MCP servers as processes of a real `svc serve`: what they see, and what becomes of them. */

const SERVER = fileURLToPath(new URL("looping-server.ts", import.meta.url));
const ADDED = {
  SVC_SECRET: "a secret that is long enough for this service",
  SVC_NAMED: "named by the owner",
  AWS_SECRET_ACCESS_KEY: "of another program",
  NODE_OPTIONS: "--no-deprecation",
  LANG: "de_DE.UTF-8",
  LC_TIME: "C",
  TZ: "Europe/Berlin",
  HTTPS_PROXY: "http://127.0.0.1:9",
};
/** Everything a server may ever be given. */
const LISTED =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LC_[A-Z]+|TZ|TMPDIR|(?:HTTPS?|ALL|NO)_PROXY|NODE_EXTRA_CA_CERTS|SSL_CERT_(?:FILE|DIR))$/i;
/** What a shell sets by itself. */
const OF_SHELL = ["OLDPWD", "PWD", "SHLVL", "_"];

let home: string;
let data: string;
let pidFile: string;
let apiKey: string;
let served: WatchedProcess;
let service: { url: string; apiKey: string };

beforeEach(async () => {
  home = await makeFolder();
  data = await makeFolder();
  pidFile = join(home, "pid");
  const first = await startTestService({ dataDir: data, secretKey: ADDED.SVC_SECRET });
  apiKey = first.apiKey;
  await first.close();
  // As npx does, the program that is started starts the server proper.
  const script = join(home, "start.sh");
  await writeFile(script, `"${process.execPath}" "${SERVER}" "${pidFile}"\nexit 0\n`);
  const add = ["add", "mcp", "looping", "--trust", "--yes", "--env", "SVC_NAMED", "--data", data, "--", "sh", script];
  const added = await runSvc(add, home, { env: ADDED });
  expect(added, added.stderr).toMatchObject({ code: 0 });
  served = startSvc(["serve", "--port", "0", "--data", data], home, ADDED);
  closeLater({
    async close() {
      served.kill("SIGKILL");
      await served.done;
      if (existsSync(pidFile) && isRunning()) process.kill(readPid(), "SIGKILL");
    },
  });
  const [, url = ""] = await served.waitFor(/Listening on (\S+)/);
  service = { url, apiKey };
  await waitForTool(service, "looping_loop");
}, 120_000);

afterEach(closeAll);

const readPid = () => Number(readFileSync(pidFile, "utf8"));

function isRunning(): boolean {
  try {
    return process.kill(readPid(), 0);
  } catch {
    return false;
  }
}

/** Brings the server into its endless loop. */
async function loop(): Promise<void> {
  execute(service, "looping_loop", { arguments: {} }).catch(() => {});
  await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, "utf8") !== "").toBe(true);
  expect(isRunning()).toBe(true);
}

test("a server sees a fixed list of variables and those that its owner named, and no setting of the service", async () => {
  const { json } = await execute(service, "looping_surroundings", { arguments: {} });
  const { LANG, LC_TIME, TZ, HTTPS_PROXY, SVC_NAMED, ...others } = json.result;
  // The value of a variable that its owner named is a secret.
  expect({ LANG, LC_TIME, TZ, HTTPS_PROXY, SVC_NAMED }).toEqual({
    LANG: ADDED.LANG,
    LC_TIME: "C",
    TZ: ADDED.TZ,
    HTTPS_PROXY: ADDED.HTTPS_PROXY,
    SVC_NAMED: "[hidden]",
  });
  expect(Object.keys(others)).toEqual(expect.arrayContaining(["PATH", "HOME"]));
  expect(Object.keys(others).filter((name) => !LISTED.test(name) && !OF_SHELL.includes(name))).toEqual([]);
});

test.skipIf(process.platform === "win32")(
  "a server in an endless loop ends soon after its service was killed",
  async () => {
    await loop();
    served.kill("SIGKILL");
    await served.done;
    await expect.poll(isRunning).toBe(false);
  },
);

test.skipIf(process.platform === "win32")(
  "a server in an endless loop ends with its service, and takes no signal",
  async () => {
    await loop();
    // The second one does not wait for the running call.
    served.kill("SIGINT");
    await served.waitFor(/Stopping/);
    served.kill("SIGINT");
    await served.done;
    await expect.poll(isRunning).toBe(false);
  },
);

test.runIf(process.platform === "linux")(
  "a command is not held by what a server started in a session of its own",
  async () => {
    const script = join(home, "lasting.sh");
    const lasting = join(home, "lasting-pid");
    await writeFile(
      script,
      `setsid sh -c 'echo $$ > "${lasting}"; exec sleep 300' &\nexec "${process.execPath}" "${SERVER}" "${pidFile}"\n`,
    );
    const add = ["add", "mcp", "lasting", "--trust", "--yes", "--data", data, "--", "sh", script];
    const added = await runSvc(add, home, { env: ADDED });
    process.kill(Number(readFileSync(lasting, "utf8")), "SIGKILL");
    expect(added, added.stderr).toMatchObject({ code: 0 });
  },
);
