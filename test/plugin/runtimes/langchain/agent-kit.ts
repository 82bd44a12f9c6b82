import { AIMessage, ToolMessage } from "@langchain/core/messages";
import { type FakeBuiltModel, fakeModel } from "@langchain/core/testing";
import { expect } from "vitest";
import type { ToolOutcome } from "../../../../src/plugin/calls/outcome.ts";
import type { TestService } from "../../../../src/testing.ts";
import { type AgentState, type RunningAgent, resume } from "./adapters.ts";

/** Where every test's conversation is kept. */
export const config = { configurable: { thread_id: "thread" } };
/** What the user says. */
export const ask = { messages: [{ role: "user", content: "Please." }] };

type Call = { name: string; args: Record<string, unknown>; id: string };

/** A write: a note by this title. */
export function note(id: string, title = id): Call {
  return { name: "notes_create_page", args: { title, body: "text" }, id };
}

/** A read. */
export function list(id: string): Call {
  return { name: "drive_list_files", args: {}, id };
}

/** A model that asks for these calls, one batch after the other, and is done. */
export function script(...batches: Call[][]): FakeBuiltModel {
  const model = batches.reduce((built, calls) => built.respondWithTools(calls), fakeModel());
  return model.respond(new AIMessage("Done."));
}

/** Titles of the notes that were really written. */
export async function readTitles(service: TestService): Promise<unknown[]> {
  return (await service.effects()).map((effect) => effect.arguments.title).sort();
}

/** One question as it was shown. */
interface Asked {
  readonly interruptId: string;
  readonly id: string;
  readonly title: unknown;
}

/** The open interrupts. LangGraph 1.7 names one of an inner agent twice: for the task that asks, and for its node. */
function listInterrupts({ __interrupt__: all = [] }: AgentState) {
  return [...new Map(all.map((one) => [one.id, one])).values()];
}

/** Every question of every open interrupt. */
export function readAsked(state: AgentState): Asked[] {
  return listInterrupts(state).flatMap(({ id, value }) =>
    (value.action_requests as { id: string; args: { title?: string } }[]).map((request) => ({
      interruptId: id,
      id: request.id,
      title: request.args.title,
    })),
  );
}

/** The answer to the first open interrupt, by its id: the same plain words count once in a task. */
export function resumeFirst(state: AgentState, value: unknown): ReturnType<typeof resume> {
  return resume({ [String(listInterrupts(state)[0]?.id)]: value });
}

/** Answers each question by its title until none is left, as an interface would: one answer per interrupt. */
export async function answerAll(
  agent: RunningAgent,
  first: AgentState,
  decide: (title: unknown) => unknown,
): Promise<{ state: AgentState; interrupts: number[] }> {
  const interrupts: number[] = [];
  let state = first;
  for (let open = listInterrupts(state); open.length > 0; open = listInterrupts(state)) {
    if (interrupts.length > 6) throw new Error("The questions do not end.");
    interrupts.push(open.length);
    const answers: Record<string, unknown> = {};
    for (const { id, value } of open) {
      const requests = value.action_requests as { args: { title?: string } }[];
      answers[id] = { decisions: requests.map((request) => decide(request.args.title)) };
    }
    state = await agent.invoke(resume(answers), config);
  }
  return { state, interrupts };
}

/** Answers to the model. */
export function readResults(state: AgentState): ToolMessage[] {
  return state.messages.filter((message) => ToolMessage.isInstance(message));
}

/** How each call ended, in the order of the answers. */
export function readStatuses(state: AgentState): string[] {
  return readResults(state).map((message) => (message.artifact as ToolOutcome).status);
}

/** No call without its answer, none answered twice. */
export function expectNothingDangling(state: AgentState): void {
  const asked = state.messages.flatMap((message) => (AIMessage.isInstance(message) ? (message.tool_calls ?? []) : []));
  const answered = readResults(state).map((message) => message.tool_call_id);
  expect(answered.toSorted()).toEqual(asked.map((call) => call.id).toSorted());
}
