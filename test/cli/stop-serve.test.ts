import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { EXIT } from "../../src/cli/exit-codes.ts";
import { startSvc } from "../e2e/run-svc.ts";
import type { WatchedProcess } from "../e2e/watch-process.ts";

let home: string;
let served: WatchedProcess;
let socket: Socket | undefined;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "svc-cli-"));
  served = startSvc(["serve", "--port", "0", "--data", join(home, "service")], home);
});

afterEach(async () => {
  socket?.destroy();
  served.kill("SIGKILL");
  await served.done;
  await rm(home, { recursive: true, force: true });
});

/** A request whose body is not there yet; ends with the answer when it is. */
async function beginRequest(): Promise<{ finish(): Promise<string> }> {
  const [, url = ""] = await served.waitFor(/Listening on (\S+)/);
  const { port, host } = new URL(url);
  const opened = connect(Number(port), "127.0.0.1").setEncoding("utf8");
  socket = opened;
  let text = "";
  opened
    .on("error", () => {})
    .on("data", (part) => {
      text += part;
    });
  const head = `POST /api/plugin/pair/start HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n`;
  opened.write(`${head}Content-Length: 2\r\nExpect: 100-continue\r\n\r\n`);
  await expect.poll(() => text).toContain("100 Continue");
  return {
    async finish() {
      const closed = once(opened, "close");
      opened.write("{}");
      await closed;
      return text;
    },
  };
}

test("svc serve says how many calls it waits for, and answers them", async () => {
  const { finish } = await beginRequest();
  served.kill("SIGINT");
  await served.waitFor(/Stopping: waiting for 1 running call\. Ctrl-C again ends now\./);
  expect(await finish()).toContain("HTTP/1.1 200 OK");
  expect(await served.done).toMatchObject({ code: EXIT.ok });
});

test("a second Ctrl-C ends it at once", async () => {
  await beginRequest();
  served.kill("SIGINT");
  await served.waitFor(/Stopping/);
  served.kill("SIGINT");
  expect(await served.done).toMatchObject({ code: EXIT.interrupted });
});

test("without a running call it just stops", async () => {
  await served.waitFor(/Listening on \S+/);
  await served.waitFor(/Next: /);
  served.kill("SIGTERM");
  await served.waitFor(/Stopping\.\n/);
  expect(await served.done).toMatchObject({ code: EXIT.ok });
});
