import { listIntegrations } from "../added/open-source-admin.ts";
import { createSourceStore } from "../added/source-store.ts";
import { keepMachineChange } from "../auth/machine-changes.ts";
import { createCatalog } from "../catalog/catalog.ts";
import { openOwnStore, type StorePlace } from "../store/open-own-store.ts";
import type { Store } from "../store/open-store.ts";
import { createRules, describeRule, type Rule, type Rules } from "./rules.ts";

/** Something that a rule may name by its id. */
export interface Named {
  readonly id: string;
  /** As its owner called it. */
  readonly label: string;
}

/** The owner's administration of rules, from the machine of the service. */
export interface RulesAdmin {
  readonly rules: Rules;
  /** Tools of built-in and added apps. */
  readonly tools: ReturnType<typeof createCatalog>;
  readonly accounts: readonly (Named & { readonly app: string; readonly isDefault: boolean })[];
  /** Live keys; OAuth clients are not among them. */
  readonly keys: readonly Named[];
  close(): Promise<void>;
}

/** Opens the rules of a service, whether it runs or not; see {@link openOwnStore}. */
export async function openRulesAdmin(place: StorePlace): Promise<RulesAdmin> {
  const { store, accountId } = await openOwnStore(place);
  try {
    const accounts = store.selectFrom("connections").select(["id", "label", "integration as app", "is_default"]);
    const keys = store.selectFrom("api_keys").select(["id", "label"]).where("revoked_at", "is", null);
    return {
      rules: keepChanges(store, createRules(store, accountId, Date.now)),
      tools: createCatalog(await listIntegrations(createSourceStore(store, Date.now))),
      accounts: (await accounts.where("account_id", "=", accountId).orderBy("created_at").execute()).map(
        ({ is_default, ...account }) => ({ ...account, isDefault: is_default === 1 }),
      ),
      keys: await keys.where("account_id", "=", accountId).orderBy("created_at").execute(),
      close: () => store.destroy(),
    };
  } catch (error) {
    await store.destroy();
    throw error;
  }
}

/** The rules, of which each change is kept for the log of the service. */
function keepChanges(store: Store, rules: Rules): Rules {
  /** What `work` changed, seen from outside: a rule that is there already is not added again. */
  async function watch<T>(work: () => Promise<T>): Promise<T> {
    const before = await rules.list();
    const result = await work();
    const after = await rules.list();
    const without = (some: readonly Rule[], others: readonly Rule[]) =>
      some.filter(({ id }) => !others.some((other) => other.id === id));
    const keep = (event: string, did: string) => (rule: Rule) =>
      keepMachineChange(store, { event, did, name: describeRule(rule), id: rule.id });
    for (const rule of without(before, after)) await keep("rule.removed", "removed the rule")(rule);
    for (const rule of without(after, before)) await keep("rule.added", "added the rule")(rule);
    return result;
  }
  return {
    list: rules.list,
    add: (content, madeBy) => watch(() => rules.add(content, madeBy)),
    remove: (id) => watch(() => rules.remove(id)),
    change: (change, madeBy) => watch(() => rules.change(change, madeBy)),
  };
}
