import { SvcError } from "../../errors.ts";
import { openSourceDesk } from "../../service/sources/open-source-desk.ts";
import { compareContents } from "../../service/sources/source-content.ts";
import { toPlainText } from "../../wire/plain-text.ts";
import { askYesNo } from "../ask-yes-no.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { findPlace, type SourceFlags } from "./add-source.ts";
import { describeChanges, summariseChanges } from "./describe-changes.ts";
import { findAdded } from "./find-added.ts";

/** `svc review`: the changes an added app wants to make to its actions; in use only after the owner's yes. */
export async function review(context: CliContext, slug: string, flags: SourceFlags): Promise<number> {
  const { terminal } = context;
  const desk = await openSourceDesk(findPlace(context, flags));
  try {
    const { name, content, proposal } = await findAdded(desk, slug);
    const shown = toPlainText(name);
    if (proposal === undefined) {
      terminal.answer({ slug, proposal: null }, () => `${shown} offers what you agreed to.`);
      return EXIT.ok;
    }
    terminal.say(`${shown} offers something else since ${proposal.foundAt}.`);
    terminal.say(summariseChanges(content, proposal.content));
    for (const line of describeChanges(content, proposal.content)) terminal.say(line);
    if (flags.yes !== true && !(await askYesNo(context, "Use the actions as they are now?"))) {
      terminal.say("Nothing was changed: the actions you agreed to stay in use, the changed ones are not run.");
      return EXIT.notApproved;
    }
    if (!(await desk.accept(slug, proposal.digest))) {
      throw new SvcError("invalid_config", "The app changed again meanwhile.", {
        field: "app",
        hint: `Run "svc review ${slug}" again.`,
      });
    }
    const changes = compareContents(content, proposal.content);
    terminal.answer({ slug, accepted: proposal.digest, changes }, () => "The actions are in use within seconds.");
    return EXIT.ok;
  } finally {
    await desk.close();
  }
}
