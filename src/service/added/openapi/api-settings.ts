import type { SourceContent, StoredAction } from "../source-content.ts";
import { type OpenApiDefinition, operationCallSchema, type SecurityScheme } from "./openapi-definition.ts";

type Schemes = OpenApiDefinition["schemes"];
type Form = Pick<SourceContent, "settingsForm" | "settingsHelp">;

/** Ways of signing in that are told apart in words. */
const MAX_WAYS = 5;
const TITLE_MAX = 60;

/**
 * What a connection is asked for, and in words which of it is needed. Each field is optional where the API can be used
 * without, or offers a choice.
 */
export function listApiSettings(schemes: Schemes, actions: readonly StoredAction[], more: Form["settingsForm"]): Form {
  const { settingsForm, settingsHelp } = listSchemeSettings(schemes, actions);
  const known = new Set(settingsForm.map(({ name }) => name));
  const added = more.filter(({ name }) => !known.has(name)).map((field) => markNeeded(field, actions));
  return { settingsForm: [...settingsForm, ...added], ...(settingsHelp !== undefined && { settingsHelp }) };
}

/** A credential that no action can do without is asked for as such. */
function markNeeded({ optional: _, ...field }: Form["settingsForm"][number], actions: readonly StoredAction[]) {
  const isNeeded = actions.every((action) => {
    const { parameters, body } = operationCallSchema.parse(action.call);
    return (
      parameters.some(({ setting, needsSetting }) => setting === field.name && needsSetting === true) ||
      body?.settings?.some(({ setting, isNeeded }) => setting === field.name && isNeeded)
    );
  });
  return isNeeded ? field : { ...field, optional: true };
}

function listSchemeSettings(schemes: Schemes, actions: readonly StoredAction[]): Form {
  const titles = Object.keys(schemes);
  const needs = actions.map(({ call }) => operationCallSchema.parse(call).security);
  const open = needs.filter((ways) => ways.length === 0 || ways.some((way) => way.length === 0)).length;
  const isRequired = titles.length === 1 && open === 0;
  const fields = Object.entries(schemes).flatMap(([title, scheme]) => listFields(title, scheme, titles.length === 1));
  const settingsForm = isRequired ? fields : fields.map((field) => ({ ...field, optional: true }));
  if (isRequired || titles.length === 0) return { settingsForm };
  const without = titles.length === 1 ? "Without it" : "Without any";
  const sentences = [describeWays(schemes, needs), describeOpen(open, needs.length, without)];
  const settingsHelp = sentences.filter((sentence) => sentence !== "").join(" ");
  return { settingsForm, ...(settingsHelp !== "" && { settingsHelp }) };
}

function listFields(title: string, scheme: SecurityScheme, isAlone: boolean): Form["settingsForm"] {
  const { setting, as, name } = scheme;
  const label = (what: string) => (isAlone ? what : `${what} ${quote(title)}`);
  if (as === "basic") {
    return [
      { name: `${setting}_user`, label: label("User name"), kind: "text" },
      { name: setting, label: label("Password"), kind: "secret" },
    ];
  }
  if (as === "bearer") return [{ name: setting, label: label("Token"), kind: "secret" }];
  const place = { header: "header", query: "parameter", cookie: "cookie" }[as];
  const help = `Sent as the ${place} ${name.slice(0, TITLE_MAX)}.`;
  return [{ name: setting, label: label("Key"), kind: "secret", help }];
}

function describeWays(schemes: Schemes, needs: readonly string[][][]): string {
  const ways = new Map<string, { readonly way: readonly string[]; count: number }>();
  const closed = needs.filter((all) => all.length > 0 && all.every((way) => way.length > 0));
  for (const way of (closed.length === 0 ? needs : closed).flat()) {
    if (way.length === 0 || !way.every((title) => Object.hasOwn(schemes, title))) continue;
    const key = JSON.stringify(way.toSorted());
    const known = ways.get(key) ?? { way, count: 0 };
    ways.set(key, { way, count: known.count + 1 });
  }
  const found = [...ways.values()].slice(0, MAX_WAYS);
  const total = closed.length === 0 ? needs.length : closed.length;
  const more = ways.size > found.length ? ", and there are more ways" : "";
  if (found.length === 0 || Object.keys(schemes).length === 1) return "";
  if (found.every(({ count }) => count >= total)) {
    if (found.length === 1) return `All of these are needed: ${describeWay(found[0]?.way ?? [], schemes)}.`;
    return `One of these is enough: ${found.map(({ way }) => describeWay(way, schemes)).join("; or ")}${more}.`;
  }
  const parts = found.map(({ way, count }) => `${describeWay(way, schemes)} for ${count} of ${needs.length} actions`);
  return `What is needed depends on the action: ${parts.join("; ")}${more}.`;
}

function describeWay(way: readonly string[], schemes: Schemes): string {
  const what = (title: string) => {
    const as = schemes[title]?.as;
    if (as === "basic") return `user name and password ${quote(title)}`;
    return `${as === "bearer" ? "token" : "key"} ${quote(title)}`;
  };
  return way.map(what).join(" with ");
}

function describeOpen(open: number, total: number, without: string): string {
  if (open === 0) return "";
  return `${without}, ${open === total ? "all actions can be tried" : `${open} of ${total} actions can be used`}.`;
}

function quote(title: string): string {
  return `“${title.slice(0, TITLE_MAX)}”`;
}
