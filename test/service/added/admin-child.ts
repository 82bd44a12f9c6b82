import type { SourceContent } from "../../../src/apps/port/source-content.ts";
import { openSourceAdmin } from "../../../src/service/added/open-source-admin.ts";

/** Adds and removes apps as `svc add` and `svc remove` do: `node admin-child.ts <data folder> <rounds>`. */
const [dataDir = "", rounds = "0"] = process.argv.slice(2);
const content: SourceContent = { description: "An app.", category: "test", scopes: [], settingsForm: [], actions: [] };
const definition = { baseUrl: "https://x.example.org", isPrivate: false, origin: "x", schemes: {} };

const admin = await openSourceAdmin({ dataDir });
for (let round = 0; round < Number(rounds); round += 1) {
  const slug = `app-${process.pid}-${round}`;
  const connection = { label: "App", settings: { key: "k" } };
  await admin.add({ slug, kind: "openapi", name: slug, definition, content }, { connection });
  await admin.add({ slug, kind: "openapi", name: slug, definition, content }, { connection, replace: true });
  if (round % 2 === 0 && !(await admin.remove(slug))) throw new Error("It was not there.");
}
await admin.close();
