import { readFences } from "../docs/read-page.ts";

/** The code of the one block of a page that holds `marker`. */
export function findBlock(page: string, marker: string): string {
  const found = readFences(page).filter(({ code }) => code.includes(marker));
  const [block] = found;
  if (found.length !== 1 || block === undefined) throw new Error(`${found.length} blocks of ${page} hold ${marker}`);
  return block.code;
}

/** Code of every block of the README that somebody runs, in order. */
export function listReadmeBlocks(): string[] {
  return readFences("README.md")
    .filter(({ language }) => language !== "text")
    .map(({ code }) => code);
}

/** The README's LangChain agent with a scripted model in the place of the real one. */
export function scriptReadmeAgent(): string {
  const code = findBlock("README.md", "SvcToolkit.create");
  const model = `fakeModel()
    .respondWithTools([{ name: "drive_upload_file", args: { file: "media://inbound/hello.txt", folder: "Letters" } }])
    .respond(new AIMessage("Saved."))`;
  const scripted = code.replace('"openai:gpt-5-mini"', model);
  if (scripted === code) throw new Error("The README's agent names no model.");
  return `import { AIMessage } from "@langchain/core/messages";
    import { fakeModel } from "@langchain/core/testing";
    ${scripted}`;
}
