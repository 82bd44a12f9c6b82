import { openSourceDesk } from "../../service/sources/open-source-desk.ts";
import { toPlainText } from "../../wire/plain-text.ts";
import { askYesNo } from "../ask-yes-no.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { findPlace, type SourceFlags } from "./add-source.ts";
import { findAdded } from "./find-added.ts";

/** `svc remove`: takes an added app and its connections away. */
export async function remove(context: CliContext, slug: string, flags: SourceFlags): Promise<number> {
  const { terminal } = context;
  const desk = await openSourceDesk(findPlace(context, flags));
  try {
    const { name, content } = await findAdded(desk, slug);
    const shown = toPlainText(name);
    const question = `Remove ${shown}, its ${content.actions.length} actions and its connections?`;
    if (flags.yes !== true && !(await askYesNo(context, question))) {
      terminal.say("Nothing was removed.");
      return EXIT.notApproved;
    }
    await desk.remove(slug);
    terminal.answer({ removed: slug }, () => `${shown} is removed; a running service drops it within seconds.`);
    return EXIT.ok;
  } finally {
    await desk.close();
  }
}
