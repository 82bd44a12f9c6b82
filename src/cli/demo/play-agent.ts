import { join, relative } from "node:path";
import { createAgent } from "langchain";
import type { Approver } from "../../approvals/request.ts";
import { SvcToolkit } from "../../runtimes/langchain/toolkit.ts";
import { createTerminalApprover } from "../../runtimes/terminal/approve-in-terminal.ts";
import { createUnattendedApprover } from "../../runtimes/terminal/approve-unattended.ts";
import { EXIT } from "../exit-codes.ts";
import { hashFile, listFiles } from "./drive-files.ts";
import { createScriptedModel, TASK } from "./scripted-model.ts";
import { showMessage } from "./show-message.ts";
import { type DemoStage, heading } from "./stage.ts";

/** True in a checkout, where no `svc` is on the path. */
const RUNS_FROM_SOURCES = import.meta.url.endsWith(".ts");

/** Builds the tools, lets the agent work on its task, and shows what is on the disk afterwards. */
export async function playAgent(stage: DemoStage): Promise<number> {
  const { context, places, credentials } = stage;
  const { terminal } = context;
  heading(context, 3, "Tools built from the service's own schemas");
  const approver = createDemoApprover(stage);
  const toolkit = await SvcToolkit.create({
    baseUrl: credentials.baseUrl,
    apiKey: credentials.apiKey,
    mediaRoots: [places.media],
    stateDir: places.state,
    approve: approver.approve,
    onEvent: (event) => {
      if (event.type === "sync_progress") terminal.progress(`  reading the tool list, ${event.tools} so far`);
    },
  });
  try {
    const tools = toolkit.getTools();
    const report = toolkit.session.catalog.report;
    terminal.endProgress(`${report?.tools ?? 0} dynamic tools from ${report?.integrations ?? 0} integrations.`);
    heading(context, 4, "An agent at work");
    terminal.say(`Task: ${TASK}`);
    const drive = join(places.service, "drive");
    const before = new Set(await listFiles(drive));
    await runAgent(stage, tools);
    const added = (await listFiles(drive)).filter((path) => !before.has(path));
    return await showResult(stage, added);
  } finally {
    approver.close();
    await toolkit.close();
  }
}

async function runAgent({ context, flags }: DemoStage, tools: ReturnType<SvcToolkit["getTools"]>): Promise<void> {
  const model = flags.model ?? createScriptedModel();
  context.terminal.say(flags.model ? `Model: ${flags.model}` : "Model: scripted, so that no key is needed.");
  const agent = createAgent({ model, tools });
  const steps = await agent.stream(
    { messages: [{ role: "user", content: TASK }] },
    { streamMode: "updates", signal: context.signal, recursionLimit: 25 },
  );
  for await (const update of steps) {
    for (const { messages } of Object.values(update)) {
      for (const message of messages ?? []) showMessage(context.terminal, message);
    }
  }
}

function createDemoApprover({ context, flags }: DemoStage): { approve: Approver; close: () => void } {
  const { input, output } = context;
  if (flags.unattended) return { approve: createUnattendedApprover({ output }), close: () => undefined };
  const approve = createTerminalApprover({ input, output });
  return { approve, close: () => approve.close() };
}

/** Compares what the service stored with the attachment and says what to do next. */
async function showResult({ context, flags, places, attachment }: DemoStage, added: readonly string[]) {
  const { terminal } = context;
  heading(context, 5, "The result on the disk");
  const source = await hashFile(attachment);
  for (const path of added) {
    const stored = await hashFile(path);
    terminal.say(`Stored:  ${path}`);
    terminal.say(`SHA-256: ${stored}`);
    const verdict = stored === source ? "equal to" : "DIFFERENT from";
    terminal.say(`         ${verdict} the source, ${relative(places.media, attachment)} in the media folder`);
  }
  if (added.length === 0) terminal.say("Nothing was stored: the drive is as it was.");
  terminal.say();
  terminal.say("What to do next");
  const svc = RUNS_FROM_SOURCES ? "npm run svc --" : "svc";
  const steps = [
    [`${svc} serve`, "run the service for yourself, with your own folders"],
    [`${svc} pair`, "connect this machine to it"],
    [`${svc} call drive_list_files`, "use a tool by hand"],
    [`${svc} demo --data ${flags.data ?? "./svc-demo"}`, "see this again and keep what it makes"],
    ["README.md", "use the tools in your own LangChain agent"],
  ];
  const width = Math.max(...steps.map(([command = ""]) => command.length));
  for (const [command = "", why] of steps) terminal.say(`  ${command.padEnd(width)}  ${why}`);
  // Nobody can have declined an unattended run, so nothing stored is a failure there.
  return flags.unattended && added.length === 0 ? EXIT.failed : EXIT.ok;
}
