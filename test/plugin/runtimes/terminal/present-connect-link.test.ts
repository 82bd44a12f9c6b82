import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { ConnectAnswer } from "../../../../src/plugin/calls/pipeline.ts";
import { LineReader } from "../../../../src/plugin/runtimes/terminal/line-reader.ts";
import { createConnectPresenter } from "../../../../src/plugin/runtimes/terminal/present-connect-link.ts";

const LINK = {
  toolName: "mail_send",
  integration: "mail",
  url: "https://svc.example/connect/mail",
  isReconnect: false,
};
let keyboard: PassThrough;
let seen: string;
let interrupts: number;
let clock: number;
let over: AbortController;
let reader: LineReader;

beforeEach(() => {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => input });
  keyboard = input;
  const screen = Object.assign(new PassThrough(), { isTTY: true, columns: 100 });
  seen = "";
  screen.on("data", (chunk) => {
    seen += String(chunk);
  });
  reader = new LineReader({ input, output: screen });
  [interrupts, clock, over] = [0, 0, new AbortController()];
});
afterEach(() => reader.close());

function present(link = LINK): Promise<ConnectAnswer> {
  const show = createConnectPresenter({
    reader,
    say: (line) => {
      seen += `${line}\n`;
    },
    clear: () => {
      seen += "[cleared]";
    },
    interrupt: () => {
      interrupts += 1;
    },
    now: () => clock,
  });
  return show(link, { signal: over.signal });
}

it.each<[string, ConnectAnswer]>([
  ["\n", "connected"],
  ["done\n", "connected"],
  ["q\n", false],
  [" No \n", false],
])("takes %j for an answer", async (typed, answer) => {
  const shown = present();
  await expect.poll(() => seen).toContain("waiting for mail, 0 s");
  keyboard.write(typed);
  expect(await shown).toBe(answer);
  expect(seen).toContain(`mail is not connected. Open this link while signed in to the service: ${LINK.url}`);
  expect(seen.endsWith("[cleared]")).toBe(true);
});

it("shows how long it is being waited for, and stops when there is nothing left to wait for", async () => {
  const shown = present({ ...LINK, isReconnect: true });
  await expect.poll(() => seen).toContain("waiting for mail, 0 s");
  clock = 65_000;
  await expect.poll(() => seen, { timeout: 30_000 }).toContain("waiting for mail, 65 s");
  over.abort();
  expect(await shown).toBe(true);
  expect(seen).toContain("The sign-in to mail has expired.");
});

it("goes on waiting at the end of input, and passes Ctrl-C on", async () => {
  const stopped = present();
  await expect.poll(() => seen).toContain("waiting for mail, 0 s");
  keyboard.write("\u0003");
  expect([await stopped, interrupts]).toEqual([false, 1]);
  const shown = present();
  keyboard.end();
  expect(await shown).toBe(true);
});
