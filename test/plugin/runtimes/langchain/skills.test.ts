import { fileURLToPath } from "node:url";
import { AIMessage, ToolMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { createDeepAgent, FilesystemBackend } from "deepagents";
import { afterEach, expect, it } from "vitest";
import { SvcToolkit } from "../../../../src/langchain.ts";
import { createScriptedApprover, startTestService } from "../../../../src/testing.ts";
import { closeAll, closeLater } from "../../calls/open-test-session.ts";

/** The skills of this package, as deepagents loads them. */

afterEach(closeAll);

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

it("deepagents names the skill in its prompt, reads it, and works with the tools it describes", async () => {
  const service = closeLater(await startTestService());
  const approve = createScriptedApprover(["approve"]);
  const toolkit = closeLater(await SvcToolkit.create({ baseUrl: service.url, apiKey: service.apiKey, approve }));
  const model = fakeModel()
    .respondWithTools([{ name: "read_file", args: { file_path: "/skills/svc/SKILL.md" }, id: "1" }])
    .respondWithTools([{ name: "svc_search_tools", args: { query: "create a page" }, id: "2" }])
    .respondWithTools([
      { name: "svc_call_tool", args: { name: "notes_create_page", arguments: { title: "T", body: "b" } }, id: "3" },
    ])
    .respond(new AIMessage("Done."));
  const agent = createDeepAgent({
    model,
    tools: toolkit.getTools({ limit: 5 }),
    skills: ["/skills/"],
    backend: new FilesystemBackend({ rootDir: ROOT, virtualMode: true }),
  });
  const { messages } = await agent.invoke({ messages: [{ role: "user", content: "Note this." }] });
  const prompt = JSON.stringify(model.calls[0]?.messages[0]?.content);
  expect(prompt).toContain("Act on the user's connected apps");
  expect(prompt).toContain("/skills/svc/SKILL.md");
  const [skill, ...results] = messages.filter((message) => ToolMessage.isInstance(message));
  expect(skill?.text).toContain("From a wish to a call");
  expect(results.map(({ artifact }) => artifact?.status)).toEqual(["succeeded", "succeeded"]);
  expect((await service.effects()).map(({ toolName }) => toolName)).toEqual(["notes_create_page"]);
});
