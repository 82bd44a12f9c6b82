import { openAccount } from "../../../../src/plugin/runtimes/openclaw/setup/account-session.ts";

/** Name, description and schema of every static and flow tool, as the rooms that own them give them. */
export async function readOwnTools() {
  const account = await openAccount({ baseUrl: "http://127.0.0.1:9", apiKey: "svc_live_never_sent" });
  const tools = [...account.tools.values()].map(({ name, description, schema }) => ({ name, description, schema }));
  await account.session.close();
  return tools;
}
