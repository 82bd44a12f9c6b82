import { openDesk } from "../../../src/runtimes/openclaw/open-desk.ts";

/** Name, description and schema of every static and flow tool, as the rooms that own them give them. */
export async function readOwnTools() {
  const desk = await openDesk({ baseUrl: "http://127.0.0.1:9", apiKey: "svc_live_never_sent" });
  const tools = [...desk.tools.values()].map(({ name, description, schema }) => ({ name, description, schema }));
  await desk.session.close();
  return tools;
}
