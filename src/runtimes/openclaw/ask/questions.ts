import type { ConnectionChoice } from "../../../calls/outcome.ts";
import type { ConnectionAnswer, ConnectionQuestion } from "../../../calls/pipeline.ts";
import type { ConnectLink } from "../../../calls/steps/await-connection.ts";
import { shorten, toCardText } from "./approval-card.ts";
import type { HostQuestion } from "./ask-host.ts";

/** The question "which account?", and how its answers are read. */
interface AccountQuestion {
  readonly questions: readonly [HostQuestion];
  /** Undefined when no account was named. */
  read(answers: ReadonlyMap<string, string>): ConnectionAnswer | undefined;
}

const ONCE = "this call only";
const ALWAYS = "from now on";
/** The host shows at most four answers. */
const MOST = 4;

/**
 * Asks for the account and whether to remember it, in one question: typed answers to several are hard to get right. Two
 * accounts fit its four answers both ways. Of more the choice counts for the call, and for good when that is typed.
 */
export function createAccountQuestion({ toolName, integration, choices }: ConnectionQuestion): AccountQuestion {
  const named = nameChoices(choices);
  const ask = `Which ${toCardText(integration)} account should ${toCardText(toolName)} use?`;
  return named.length <= 2 ? askBothWays(named, ask) : askByName(named, ask);
}

interface NamedChoice {
  readonly id: string;
  readonly name: string;
}

function askBothWays(named: readonly NamedChoice[], question: string): AccountQuestion {
  const answers = named.flatMap(({ id, name }) => [
    { label: `${name}: ${ONCE}`, id, remember: false },
    { label: `${name}: ${ALWAYS}`, id, remember: true },
  ]);
  return {
    questions: [{ id: "account", header: "Account", question, options: answers.map(({ label }) => ({ label })) }],
    read(given) {
      const said = given.get("account");
      const found = answers.find(({ label }) => isSame(label, said));
      return found && { id: found.id, remember: found.remember };
    },
  };
}

function askByName(named: readonly NamedChoice[], ask: string): AccountQuestion {
  const hidden = named.slice(MOST).map(({ name }) => name);
  const others = hidden.length === 0 ? "" : ` Others, to be typed: ${hidden.join(" | ")}.`;
  const question = `${ask}${others} It counts for ${ONCE}; type its name with "${ALWAYS}" to keep it.`;
  const options = named.slice(0, MOST).map(({ name }) => ({ label: name }));
  return {
    questions: [{ id: "account", header: "Account", question, options, isOther: true }],
    read(given) {
      const said = given.get("account")?.trim() ?? "";
      const wanted = said.replace(/[\s:,]*from now on$/i, "");
      const found =
        named.find(({ id, name }) => isSame(name, said) || isSame(id, said)) ??
        named.find(({ id, name }) => isSame(name, wanted) || isSame(id, wanted));
      return found && { id: found.id, remember: !isSame(found.name, said) && !isSame(found.id, said) };
    },
  };
}

/** The default first, and no two names alike: the host refuses equal answers. */
function nameChoices(choices: readonly ConnectionChoice[]): NamedChoice[] {
  const sorted = [...choices].sort((a, b) => Number(b.isDefault === true) - Number(a.isDefault === true));
  const names = sorted.map(({ label }) => shorten(toCardText(label).trim(), 60).toLowerCase());
  return sorted.map(({ id, label }) => {
    const name = shorten(toCardText(label).trim(), 60);
    const isUnique = name !== "" && names.filter((other) => other === name.toLowerCase()).length === 1;
    return { id, name: isUnique ? name : `${name} (${toCardText(id)})`.trim() };
  });
}

function isSame(text: string, said: string | undefined): boolean {
  return said !== undefined && text.toLowerCase() === said.trim().toLowerCase();
}

/** The answer that says: done, go on. */
export const CONNECTED = "I have connected it";

/** Shows a human where to connect an app. The link stands in the text too, for chats without buttons. */
export function createConnectQuestion({ toolName, integration, url, isReconnect }: ConnectLink): HostQuestion {
  const app = toCardText(integration);
  const need = isReconnect ? `${app} must be signed in to again` : `${app} is not connected`;
  return {
    id: "connect",
    header: "Connect",
    question: `${need}; ${toCardText(toolName)} waits for it. Open ${url} - it goes on by itself when you are done.`,
    url,
    options: [{ label: CONNECTED }, { label: "Not now" }],
  };
}
