import { type ListedPerson, openPeopleAdmin, type PeopleAdmin } from "../../service/auth/open-people-admin.ts";
import { exactTime } from "../../shared/base/text.ts";
import { SvcError } from "../../shared/errors.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { wrapWords } from "../terminal.ts";
import { askYesNo, type SourceFlags } from "./add-source.ts";

/** `svc people list`: who may sign in to a service on this machine. */
export async function listPeople(context: CliContext, flags: SourceFlags): Promise<number> {
  return withPeople(context, flags, async (admin) => {
    const people = await admin.list();
    const width = Math.max(...people.map(({ name }) => name.length));
    context.terminal.answer(people, () =>
      people.map((person) => `${person.name.padEnd(width)}  ${person.role.padEnd(8)}  ${describe(person)}`).join("\n"),
    );
    return EXIT.ok;
  });
}

function describe({ browsers, hasJoined }: ListedPerson): string {
  if (browsers > 0) return `signed in with ${browsers === 1 ? "one browser" : `${browsers} browsers`}`;
  return hasJoined ? "not signed in" : "invited, not signed in yet";
}

/** `svc people invite`: prints the link that signs the new person in. */
export async function invitePerson(
  context: CliContext,
  name: string,
  flags: SourceFlags & { readonly role: "owner" | "approver" },
): Promise<number> {
  const { terminal } = context;
  return withPeople(context, flags, async (admin) => {
    const { link, expiresAt } = await admin.invite({ name, role: flags.role });
    const advice = `Whoever opens it first is ${name}, so send it to nobody else. It works once, until ${exactTime(expiresAt)}.`;
    terminal.answer({ link, expiresAt }, () => `${link}\n${wrapWords(advice, terminal.columns, "")}`);
    return EXIT.ok;
  });
}

/** `svc people remove`: signs a person out everywhere, for good. */
export async function removePerson(context: CliContext, wanted: string, flags: SourceFlags): Promise<number> {
  const { terminal } = context;
  return withPeople(context, flags, async (admin) => {
    const people = await admin.list();
    const person = people.find(({ id, name }) => id === wanted || name === wanted);
    if (person === undefined) {
      const hint = `There are: ${people.map(({ name }) => name).join(", ")}.`;
      throw new SvcError("invalid_config", `There is no person "${wanted}".`, { field: "person", hint });
    }
    terminal.say(`${person.name}: ${person.role}, ${describe(person)}`);
    if (!(await askYesNo(context, flags, `Remove ${person.name}, and sign their browsers out?`))) {
      terminal.say("Nothing was changed.");
      return EXIT.notApproved;
    }
    await admin.remove(person.id);
    terminal.answer({ removed: person.id }, () => "Removed. It counts at once.");
    return EXIT.ok;
  });
}

async function withPeople<T>(
  { places }: CliContext,
  { data, database }: SourceFlags,
  work: (admin: PeopleAdmin) => Promise<T>,
): Promise<T> {
  const admin = await openPeopleAdmin({ dataDir: data ?? places.service, database });
  try {
    return await work(admin);
  } finally {
    await admin.close();
  }
}
