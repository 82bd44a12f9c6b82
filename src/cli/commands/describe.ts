import { isRecord } from "../../base/json.ts";
import { type CatalogEntry, mustAskFirst } from "../../calls/catalog/catalog-entry.ts";
import { SvcError } from "../../errors.ts";
import { isFileField } from "../../media/locate/locate-files.ts";
import { toPlainText } from "../../wire/plain-text.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { withCatalog } from "../open-session.ts";
import { endSentence, wrapWords } from "../terminal.ts";

import { toJson } from "./tools.ts";

/** `svc describe`: one tool with its arguments, accounts and whether a human is asked. */
export async function describe(context: CliContext, name: string, flags: { baseUrl?: string }): Promise<number> {
  return withCatalog(context, { ...flags, cached: true }, async (catalog) => {
    await catalog.load({ signal: context.signal });
    const { entry } = await catalog.refresh(name);
    if (entry === undefined) throw unknownTool(name, catalog.suggest(name));
    const connections = entry.connections.map(({ id, label }) => ({ id, label }));
    context.terminal.answer({ ...toJson(entry), inputSchema: entry.inputSchema, connections }, () =>
      format(entry, context.terminal.columns),
    );
    return EXIT.ok;
  });
}

/** The refusal for a name the service does not know, with close names, reads first. */
export function unknownTool(name: string, close: readonly CatalogEntry[]): SvcError {
  const names = close.map((entry) => entry.name).join(", ");
  return new SvcError("service_failure", `There is no tool named "${name}".`, {
    hint: names ? `Did you mean: ${names}?` : 'Find it with "svc search <words>".',
    field: "tool",
  });
}

function format(entry: CatalogEntry, columns: number | undefined): string {
  const schema = entry.inputSchema ?? {};
  const properties = Object.entries(isRecord(schema.properties) ? schema.properties : {});
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  return [
    toPlainText(`${entry.name}: ${entry.title}`),
    // Indented, so that no line of the service looks like one of ours.
    ...toPlainText(entry.description, { keepLines: true })
      .split("\n")
      .map((line) => wrapWords(`  ${line}`, columns, "  ")),
    "",
    `Effect: ${entry.effect}${mustAskFirst(entry) ? "; you are asked before it runs" : ""}`,
    ...entry.connections.map(({ id, label }) => toPlainText(`Account: ${label} (${id})`)),
    "",
    properties.length === 0 ? "No arguments." : "Arguments:",
    ...properties.map(([name, property]) =>
      wrapWords(
        formatArgument(name, isRecord(property) ? property : {}, {
          isRequired: required.has(name),
          isFile: isFileField(schema, name),
        }),
        columns,
        "      ",
      ),
    ),
    "",
    toPlainText(`Next: ${exampleCall(entry.name, schema, required)}`),
  ].join("\n");
}

function formatArgument(
  name: string,
  property: Record<string, unknown>,
  { isRequired, isFile }: { readonly isRequired: boolean; readonly isFile: boolean },
): string {
  const type = isFile ? `file: --file ${name}=PATH` : String(property.type ?? "any");
  const choices = Array.isArray(property.enum) ? ` One of ${property.enum.join(", ")}.` : "";
  const fallback = property.default === undefined ? "" : ` Default ${JSON.stringify(property.default)}.`;
  const text = typeof property.description === "string" ? ` ${endSentence(property.description)}` : "";
  return toPlainText(`  ${name} (${type}${isRequired ? ", required" : ""})${text}${choices}${fallback}`);
}

function exampleCall(tool: string, schema: Record<string, unknown>, required: Set<unknown>): string {
  const names = [...required].filter((name) => typeof name === "string");
  const files = names.filter((name) => isFileField(schema, name));
  const values = Object.fromEntries(names.filter((name) => !files.includes(name)).map((name) => [name, "…"]));
  const args = Object.keys(values).length === 0 ? "" : ` --args '${JSON.stringify(values)}'`;
  return `svc call ${tool}${args}${files.map((name) => ` --file ${name}=PATH`).join("")}`;
}
