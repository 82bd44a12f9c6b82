import { beforeEach, expect, it } from "vitest";
import type { SessionEvent } from "../../../../src/plugin/calls/session-events.ts";
import type { HostToolResult } from "../../../../src/plugin/runtimes/openclaw/host/host-tool.ts";
import { type Delay, reportProgress } from "../../../../src/plugin/runtimes/openclaw/run-host-call.ts";

/** What waits to be shown. */
let waiting: (() => void)[];
let shown: HostToolResult[];
const delay: Delay = (_ms, work) => {
  waiting.push(work);
  return () => void waiting.splice(waiting.indexOf(work), 1);
};
const pass = () => {
  for (const work of waiting.splice(0)) work();
};

beforeEach(() => {
  waiting = [];
  shown = [];
});

const open = (show = (line: HostToolResult) => void shown.push(line)) => reportProgress("mine", show, delay);
const asked: SessionEvent = { type: "approval_requested", callId: "mine", toolName: "drive_secret_plans" };
const sent: SessionEvent = { type: "sending", callId: "mine", toolName: "drive_secret_plans", confirmed: true };

it("shows a step that takes a while, in words that give nothing away", () => {
  const { listen } = open();
  listen(asked);
  pass();
  expect(shown).toEqual([
    {
      content: [],
      details: {},
      progress: { text: "Waiting for an approval…", visibility: "channel", privacy: "public" },
    },
  ]);
  expect(JSON.stringify(shown)).not.toContain("secret");
});

it("shows nothing of a step that is over at once", () => {
  const { listen } = open();
  listen(asked);
  listen(sent);
  pass();
  expect(shown.map(({ progress }) => progress?.text)).toEqual(["Waiting for the app…"]);
  listen({ type: "finished", callId: "mine", toolName: "t", status: "succeeded" });
  pass();
  expect(shown).toHaveLength(1);
});

it("shows a step once, and nothing of other calls or after the end", () => {
  const reporter = open();
  reporter.listen(sent);
  pass();
  reporter.listen(sent);
  reporter.listen({ ...asked, callId: "another" });
  reporter.listen({ type: "sync_progress", integration: null, tools: 1 });
  pass();
  expect(shown).toHaveLength(1);
  reporter.listen(asked);
  reporter.stop();
  pass();
  expect(shown).toHaveLength(1);
});

it("does not fail with a listener that does", () => {
  const { listen } = open(() => {
    throw new Error("the channel is gone");
  });
  listen(sent);
  expect(pass).not.toThrow();
});
