import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { createAgent, initChatModel } from "langchain";
import { stringify } from "yaml";
import type { Approver } from "../../plugin/calls/ask/request.ts";
import type { ToolOutcome } from "../../plugin/calls/outcome.ts";
import type { Credentials } from "../../plugin/pairing/credentials.ts";
import { SvcToolkit } from "../../plugin/runtimes/langchain/toolkit.ts";
import {
  createTerminalApprover,
  createUnattendedApprover,
} from "../../plugin/runtimes/terminal/approve-in-terminal.ts";
import { sha256Hex } from "../../shared/base/hash.ts";
import { isRecord } from "../../shared/base/json.ts";
import { SvcError } from "../../shared/errors.ts";
import type { CliContext, Places } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { endSentence, type Terminal } from "../terminal.ts";
import { ATTACHMENT_NAME } from "./sample-content.ts";

/** True in a checkout, where no `svc` is on the path. */
const RUNS_FROM_SOURCES = import.meta.url.endsWith(".ts");

/** Flags of `svc demo`. */
export interface DemoFlags {
  readonly data?: string;
  readonly model?: string;
  readonly unattended?: boolean;
}

interface DemoStage {
  readonly context: CliContext;
  readonly flags: DemoFlags;
  readonly places: Places;
  readonly credentials: Credentials;
  readonly attachment: string;
}

/** Prints a numbered heading. */
export function heading({ terminal }: CliContext, step: number, text: string): void {
  terminal.say(`\n${terminal.style("bold", `${step}. ${text}`)}`);
}

/** Builds the tools, lets the agent work on its task, and shows the files it stored. */
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

async function showResult({ context, flags, places, attachment }: DemoStage, added: readonly string[]) {
  const { terminal } = context;
  heading(context, 5, "The result on the disk");
  const source = sha256Hex(await readFile(attachment));
  for (const path of added) {
    const stored = sha256Hex(await readFile(path));
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
  // Nobody can decline in an unattended run, so it has failed if nothing is stored.
  return flags.unattended && added.length === 0 ? EXIT.failed : EXIT.ok;
}

/**
 * Creates the model once, so that an unusable name is refused before a human is asked for anything.
 *
 * @throws SvcError `invalid_config`, field `--model`.
 */
export async function checkModel(name: string): Promise<void> {
  try {
    await initChatModel(name);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new SvcError("invalid_config", `--model "${name}" cannot be used. ${endSentence(reason)}`, {
      field: "--model",
      hint: "Name it as PROVIDER:NAME, such as openai:gpt-5-mini, install its LangChain package and set its key.",
      cause,
    });
  }
}

/** Paths of all files below `folder`, hidden folders left out; empty when there is no such folder. */
async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return paths.filter((path) => !path.slice(folder.length).includes("/."));
}

const SHOWN_LINES = 24;

function showMessage(terminal: Terminal, message: BaseMessage): void {
  if (AIMessage.isInstance(message)) {
    for (const call of message.tool_calls ?? []) {
      terminal.say(`${terminal.style("cyan", "Agent calls")} ${call.name} ${JSON.stringify(call.args)}`);
    }
    if (message.text !== "") terminal.say(`${terminal.style("cyan", "Agent says")} ${message.text}`);
    return;
  }
  if (!ToolMessage.isInstance(message)) return;
  const outcome: unknown = message.artifact;
  if (!isOutcome(outcome)) {
    terminal.say(indent(message.text));
    return;
  }
  if (outcome.status === "succeeded") {
    terminal.say(terminal.style("green", "Result"));
    terminal.say(
      indent(outcome.resultPreview ?? stringify(outcome.result, { blockQuote: "literal", lineWidth: 100 }).trimEnd()),
    );
    return;
  }
  terminal.say(terminal.style("yellow", `Not done (${outcome.status})`));
  terminal.say(indent([outcome.message, outcome.hint].filter(Boolean).join("\n")));
}

/** The first lines, indented, with a note about the rest. */
function indent(text: string): string {
  const lines = text.split("\n");
  const shown = lines.slice(0, SHOWN_LINES);
  if (lines.length > shown.length) shown.push(`… ${lines.length - shown.length} more lines`);
  return shown.map((line) => `  ${line}`).join("\n");
}

function isOutcome(value: unknown): value is ToolOutcome {
  return isRecord(value) && "status" in value && "toolName" in value;
}

/** The reference of the attachment in the task, in the form a runtime gives a model. */
const ATTACHMENT_REFERENCE = `media://inbound/${ATTACHMENT_NAME}`;

/** The human's task; a real model gets the same sentence. */
export const TASK = `Read my unread mail. If somebody asks for the quote, save the attachment ${ATTACHMENT_REFERENCE} to the folder "Quotes" of my drive.`;

/**
 * A model that plays its part without a network: search the mailbox, open what it found, save the file, report.
 * Only the model is scripted; every call it makes runs for real and its later turns use real results.
 */
export function createScriptedModel() {
  return fakeModel()
    .respond(() => callTool("mail_search", { query: "is:unread" }))
    .respond((messages) => {
      const id = findInLastResult(messages, "message_id");
      return id === undefined
        ? new AIMessage("There is no unread mail, so there is nothing to save.")
        : callTool("mail_read_message", { message_id: id });
    })
    .respond(() =>
      callTool("drive_upload_file", {
        folder: "Quotes",
        file: { s3key: ATTACHMENT_REFERENCE },
        if_exists: "rename",
      }),
    )
    .respond((messages) => {
      const last = messages.findLast((message) => ToolMessage.isInstance(message));
      if (last?.status === "error") return new AIMessage("The file was not saved. I did not try again.");
      // The human may have changed folder or name, and the drive numbers duplicate names.
      const path = findInLastResult(messages, "path");
      return new AIMessage(`Done: the quote is in your drive${path === undefined ? "" : `, as ${path}`}.`);
    });
}

let callCount = 0;

function callTool(name: string, args: Record<string, unknown>): AIMessage {
  callCount += 1;
  return new AIMessage({ content: "", tool_calls: [{ id: `call_${callCount}`, name, args, type: "tool_call" }] });
}

/** The first text of this key in the last tool result, whatever stands around it. */
function findInLastResult(messages: readonly BaseMessage[], key: "message_id" | "path"): string | undefined {
  const last = messages.findLast((message) => ToolMessage.isInstance(message));
  return last?.text.match(new RegExp(`"${key}":\\s*"([^"]+)"`))?.[1];
}
