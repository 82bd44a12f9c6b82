import { createRules, type Rule, type RuleContent } from "../../../src/service/access/rules.ts";
import { findAccount, type Store } from "../../../src/service/store/open-store.ts";
import type { TestService } from "../../../src/testing.ts";
import { openStoreOf } from "../find-store.ts";

/** The rules of a running service, opened beside it as another process does; the caller closes them. */
export async function openRules({ dataDir }: TestService) {
  const store: Store = await openStoreOf(dataDir);
  const rules = createRules(store, (await findAccount(store)) ?? "", Date.now);
  return { ...rules, store, close: () => store.destroy() };
}

let made = 0;

/** A rule in force. */
export function makeRule(content: RuleContent): Rule {
  return { ...content, id: `rule_${++made}`, madeBy: "test", madeAt: "2026-11-25T12:00:00.000Z" };
}
