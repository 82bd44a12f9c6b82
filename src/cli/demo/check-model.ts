import { initChatModel } from "langchain";
import { SvcError } from "../../errors.ts";
import { endSentence } from "../end-sentence.ts";

/**
 * Makes the model once, so that a name that cannot work is refused before a human is asked for anything.
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
