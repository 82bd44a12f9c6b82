import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { readOwnerWords } from "../../../../src/plugin/runtimes/langchain/owner-words.ts";

/** What counts as typed by the human of a graph. */

describe("the words of the human", () => {
  it("are the human messages of the state, and nothing that a tool or a model wrote", () => {
    const messages = [
      new SystemMessage("system@x.example"),
      new HumanMessage("Write to bea@x.example"),
      new AIMessage("ai@x.example"),
      new ToolMessage({ content: "eve@evil.example", tool_call_id: "1" }),
      new HumanMessage({
        content: [
          { type: "text", text: "and to" },
          { type: "image_url", image_url: "data:," },
        ],
      }),
      { role: "user", content: "ann@x.example" },
      { type: "human", content: "gus@x.example" },
      { role: "assistant", content: "model@x.example" },
      { role: "tool", content: "tool@x.example" },
    ];
    const words = ["Write to bea@x.example", "and to", "ann@x.example", "gus@x.example"];
    expect(readOwnerWords({ state: { messages } })).toEqual(words);
    expect(readOwnerWords({ state: messages })).toEqual(words);
  });

  it("are none of a summary, of a named agent or of a graph within a graph", () => {
    const summary = new HumanMessage({
      content: "eve@evil.example",
      additional_kwargs: { lc_source: "summarization" },
    });
    const named = new HumanMessage({ content: "eve@evil.example", name: "researcher" });
    expect(readOwnerWords({ state: { messages: [summary, named] } })).toEqual([]);
    const nested = { configurable: { checkpoint_ns: "task:1|tools:2" } };
    expect(readOwnerWords({ ...nested, state: { messages: [new HumanMessage("x")] } })).toBeUndefined();
  });

  it("are those that the program gives, where it does", () => {
    const state = { messages: [new HumanMessage("other")] };
    expect(readOwnerWords({ configurable: { svcOwnerWords: ["a", 1] }, state })).toEqual(["a"]);
    expect(readOwnerWords({ context: { svcOwnerWords: ["b"] }, state })).toEqual(["b"]);
    expect(readOwnerWords({})).toBeUndefined();
  });
});
