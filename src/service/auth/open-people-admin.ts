import { resolve } from "node:path";
import { SvcError } from "../../shared/errors.ts";
import { ServiceError } from "../service-error.ts";
import { readServingUrl } from "../store/data-folder.ts";
import { openOwnStore, type StorePlace } from "../store/open-own-store.ts";
import type { Role } from "../store/schema.ts";
import { keepMachineChange } from "./machine-changes.ts";
import { createOwnerSessions } from "./owner-sessions.ts";
import { createPeople, type PersonRow, readRole } from "./people.ts";

/** A person with the number of their signed-in browsers. */
export type ListedPerson = Pick<PersonRow, "id" | "name" | "role"> & {
  readonly browsers: number;
  readonly hasJoined: boolean;
};

/** The owner's administration of people, from the machine of the service. A refusal is thrown as `invalid_config`. */
export interface PeopleAdmin {
  list(): Promise<ListedPerson[]>;
  /** The address that signs the new person in; works once, until `expiresAt` (ISO 8601). Needs a service that runs. */
  invite(fields: { name: string; role: Role }): Promise<{ link: string; expiresAt: string }>;
  remove(id: string): Promise<void>;
  close(): Promise<void>;
}

/** Opens the people of a service, whether it runs or not; see {@link openOwnStore}. */
export async function openPeopleAdmin(place: StorePlace): Promise<PeopleAdmin> {
  const { store, accountId } = await openOwnStore(place);
  const people = createPeople(store, Date.now);
  const sessions = createOwnerSessions(store, Date.now);
  return {
    async list() {
      const signedIn = await sessions.list(accountId);
      return (await people.list(accountId)).map(({ id, name, role, joined_at }) => {
        const own = signedIn.filter(({ person_id }) => person_id === id);
        return { id, name, role, browsers: own.length, hasJoined: joined_at !== null };
      });
    },
    async invite({ name, role }) {
      const url = await readServingUrl(resolve(place.dataDir));
      const person = await orRefuse(() => people.invite(accountId, { name, role: readRole(role) }));
      const { secret, expiresAt } = await sessions.createInvitation(person.id);
      const did = `invited, as ${role},`;
      await keepMachineChange(store, { event: "person.invited", did, name: person.name, id: person.id });
      return { link: `${url}/sign-in?token=${secret}`, expiresAt };
    },
    remove: (id) =>
      orRefuse(async () => {
        const { name } = await people.find(accountId, id);
        await people.remove(accountId, id);
        await keepMachineChange(store, { event: "person.removed", did: "removed", name, id });
      }),
    close: () => store.destroy(),
  };
}

async function orRefuse<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new SvcError("invalid_config", error.message, { field: "person", cause: error });
  }
}
