import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/** A message as the model gets it, with its parts put together. */
interface PromptMessage {
  readonly role: string;
  readonly text: string;
}

/** One request to the model. */
interface ModelRequest {
  readonly messages: readonly PromptMessage[];
  /** Names of the tools the model may call directly. */
  readonly tools: readonly string[];
  /** The whole prompt as it came over the wire: what a model could read. */
  readonly raw: string;
  /** The user's last words, with the references of their attachments. */
  readonly words: string;
  /** Results of tools since the last words of the user, oldest first. */
  readonly results: readonly string[];
}

/** What the model answers: words, or one tool with its arguments. */
type ModelReply = string | { readonly tool: string; readonly args: object };

/** Plays the model. Called once per request. */
type ModelScript = (request: ModelRequest) => ModelReply;

/** A model on loopback that says what a test wants. */
export interface ScriptedModel {
  readonly port: number;
  /** Base URL of its API. */
  readonly url: string;
  /** Turns of an agent, in their order. */
  readonly requests: readonly ModelRequest[];
  /** What the host asked beside: without any tool, a title for a conversation, say. Answered with words. */
  readonly asides: readonly ModelRequest[];
  /** Replaces the script. Without one the model says "Nothing to do.". */
  play(script: ModelScript): void;
  /**
   * Plays replies in their order within each turn: the first to the user's words, the next to the first result, and so
   * on. A function gets the result before it. After the last one the model says the last result back.
   */
  playTurn(...replies: (ModelReply | ((lastResult: string) => ModelReply))[]): void;
  close(): Promise<void>;
}

/** Starts a model that speaks the streaming Chat Completions protocol on a free port. */
export async function startScriptedModel(): Promise<ScriptedModel> {
  const requests: ModelRequest[] = [];
  const asides: ModelRequest[] = [];
  const silent: ModelScript = () => "Nothing to do.";
  let script = silent;
  const server = createServer((incoming, outgoing) => {
    // Before a run that nobody sits at, the host asks whether the model is there.
    if (incoming.method === "GET") {
      outgoing.end(JSON.stringify({ object: "list", data: [{ id: "scripted" }] }));
      return;
    }
    void json(incoming).then((body) => {
      const request = readRequest(body as WireRequest);
      const isAside = request.tools.length === 0;
      (isAside ? asides : requests).push(request);
      sendReply(outgoing, request, (isAside ? silent : script)(request));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    asides,
    play(next) {
      script = next;
    },
    playTurn(...replies) {
      script = ({ results }) => {
        const last = results.at(-1) ?? "";
        const reply = replies[results.length] ?? last;
        return typeof reply === "function" ? reply(last) : reply;
      };
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

type WireContent = string | { type: string; text?: string }[] | null | undefined;

interface WireRequest {
  messages?: { role: string; content?: WireContent }[];
  tools?: { function: { name: string } }[];
}

/** How the block begins that the host adds as one more message of the user. */
const HOST_CONTEXT = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>";

function readRequest(body: WireRequest): ModelRequest {
  const messages = (body.messages ?? []).map(({ role, content }) => ({ role, text: joinText(content) }));
  const lastWords = messages.findLastIndex(({ role, text }) => role === "user" && !text.startsWith(HOST_CONTEXT));
  return {
    messages,
    tools: (body.tools ?? []).map((tool) => tool.function.name),
    raw: JSON.stringify(body),
    words: messages[lastWords]?.text ?? "",
    results: messages.slice(lastWords + 1).flatMap(({ role, text }) => (role === "tool" ? [text] : [])),
  };
}

function joinText(content: WireContent): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => part.text ?? "").join("\n");
}

/** A tool that is not in the request is called through the host's own `tool_call`, as a model would have to. */
function sendReply(outgoing: ServerResponse, request: ModelRequest, reply: ModelReply): void {
  const id = randomUUID();
  const call = typeof reply === "string" ? undefined : wrapCall(request, reply);
  const delta =
    call === undefined
      ? { role: "assistant", content: reply }
      : { role: "assistant", tool_calls: [{ index: 0, id: `call_${id}`, type: "function", function: call }] };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const chunks = [
    { choices: [{ index: 0, delta, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason: call === undefined ? "stop" : "tool_calls" }] },
    { choices: [], usage },
  ];
  outgoing.writeHead(200, { "content-type": "text/event-stream" });
  for (const chunk of chunks) {
    const event = { id: `chat_${id}`, object: "chat.completion.chunk", created: 0, model: "scripted", ...chunk };
    outgoing.write(`data: ${JSON.stringify(event)}\n\n`);
  }
  outgoing.end("data: [DONE]\n\n");
}

function wrapCall({ tools }: ModelRequest, { tool, args }: { tool: string; args: object }) {
  const direct = tools.includes(tool);
  if (!direct && !tools.includes("tool_call")) throw new Error(`The model was not given the tool ${tool}.`);
  return direct
    ? { name: tool, arguments: JSON.stringify(args) }
    : { name: "tool_call", arguments: JSON.stringify({ id: tool, args }) };
}
