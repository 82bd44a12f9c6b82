import { type CatalogEntry, mustAskFirst } from "../../plugin/calls/catalog/catalog-entry.ts";
import { isFileField } from "../../plugin/media/locate/locate-files.ts";
import { isRecord } from "../../shared/base/json.ts";
import { toPlainText } from "../../shared/card/plain-text.ts";
import { SvcError } from "../../shared/errors.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { withCatalog } from "../open-session.ts";
import { endSentence, wrapWords } from "../terminal.ts";

import { findUnconnected, toJson } from "./tools.ts";

/** `svc describe`: one tool with its arguments, accounts and whether a human is asked. */
export async function describe(context: CliContext, name: string, flags: { baseUrl?: string }): Promise<number> {
  return withCatalog(context, { ...flags, cached: true }, async (catalog, client) => {
    await catalog.load({ signal: context.signal });
    const asked = findUnconnected(client, context.signal);
    // A tool that is not there ends the command first.
    asked.catch(() => undefined);
    const { entry } = await catalog.refresh(name);
    if (entry === undefined) throw unknownTool(name, catalog.suggest(name));
    const unconnected = await asked;
    const connections = entry.connections.map(({ id, label, isDefault }) => ({
      id,
      label,
      isDefault: isDefault === true,
    }));
    context.terminal.answer({ ...toJson(entry, unconnected), inputSchema: entry.inputSchema, connections }, () =>
      format(entry, { columns: context.terminal.columns, isConnected: !unconnected.has(entry.integration) }),
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

function format(
  entry: CatalogEntry,
  { columns, isConnected }: { readonly columns: number | undefined; readonly isConnected: boolean },
): string {
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
    ...entry.connections.map(({ id, label, isDefault }) =>
      toPlainText(`Account: ${label} (${id})${isDefault === true ? ", the default" : ""}`),
    ),
    ...(isConnected ? [] : [toPlainText(`Not connected yet: "svc connect ${entry.integration}" prints the link.`)]),
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

/** A value of the type of an argument, to be replaced. */
function exampleValue(property: unknown): unknown {
  if (!isRecord(property)) return "…";
  if (property.default !== undefined) return property.default;
  if (Array.isArray(property.enum)) return property.enum[0];
  switch ([property.type].flat()[0]) {
    case "array":
      return [exampleValue(property.items)];
    case "object":
      return {};
    case "integer":
    case "number":
      return typeof property.minimum === "number" ? property.minimum : 1;
    case "boolean":
      return true;
    default:
      return "…";
  }
}

function exampleCall(tool: string, schema: Record<string, unknown>, required: Set<unknown>): string {
  const names = [...required].filter((name) => typeof name === "string");
  const files = names.filter((name) => isFileField(schema, name));
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const values = Object.fromEntries(
    names.filter((name) => !files.includes(name)).map((name) => [name, exampleValue(properties[name])]),
  );
  const args = Object.keys(values).length === 0 ? "" : ` --args '${JSON.stringify(values)}'`;
  return `svc call ${tool}${args}${files.map((name) => ` --file ${name}=PATH`).join("")}`;
}
