import { type SourceContent, type StoredAction, toFreeName } from "../port/source-content.ts";
import { type OpenApiDefinition, operationCallSchema, type SecurityScheme } from "./openapi-definition.ts";
import { describeScopes } from "./sign-in-scopes.ts";
import { type FormParts, listWays, nameScheme, type OfferedWay, PLACES, quote, TITLE_MAX } from "./sign-in-ways.ts";

type SettingField = SourceContent["settingsForm"][number];

/** The connect form of an API, and how its settings are read. */
export interface SignInForm extends Pick<OpenApiDefinition, "choice" | "ways"> {
  readonly content: Form;
}

type Form = Pick<SourceContent, "settingsForm" | "settingsHelp">;

type Fields = ReadonlyMap<string, readonly SettingField[]>;

/**
 * The settings of a connection. Where there are several ways to sign in the owner is given the choice, and fields of other
 * ways than the first are folded away.
 */
export function createSignInForm(parts: FormParts): SignInForm {
  const { actions } = parts;
  const needs = actions.map(({ call }) => operationCallSchema.parse(call).security);
  const free = needs.filter((ways) => ways.length === 0 || ways.some((way) => way.length === 0)).length;
  const fields = nameFields(parts);
  const offered = listWays(parts, needs, fields);
  const known = new Set([...fields.values()].flat().map(({ name }) => name));
  const more = parts.more.filter(({ name }) => !known.has(name)).map((field) => markNeeded(field, actions));
  const hasSignIn = offered.some(({ signIn }) => signIn !== undefined);
  const of = { free, total: needs.length };
  const ways = offered.map(({ value, needs: own, signIn }) => ({ value, needs: own, ...(signIn && { signIn }) }));
  if (offered.length < 2 && !(free > 0 && hasSignIn)) {
    const { settingsForm, ...help } = listOnlyWay(fields, offered, of);
    return { content: { settingsForm: [...settingsForm, ...more], ...help }, ways: hasSignIn ? ways : [] };
  }
  const none = free === 0 ? [] : [{ value: "no-sign-in", label: describeNone(of), needs: [] }];
  const choice = toFreeName("sign_in_with", (name) => known.has(name) || more.some((field) => field.name === name));
  const options = [...offered, ...none].map(({ value, label }) => ({ value, label }));
  const { settingsForm, ...help } = listChoice(fields, offered, parts);
  const first: SettingField = { name: choice, label: "How do you sign in?", kind: "choice", options, optional: true };
  return {
    content: { settingsForm: [first, ...settingsForm, ...more], ...help },
    choice,
    ways: [...ways, ...none.map(({ value, needs: own }) => ({ value, needs: own }))],
  };
}

function listOnlyWay(fields: Fields, [way]: readonly OfferedWay[], of: { free: number; total: number }): Form {
  const settingsForm = [...fields].flatMap(([title, all]) =>
    all.map((field) => (of.free === 0 && way?.titles.includes(title) ? field : { ...field, optional: true })),
  );
  if (of.free === 0 || settingsForm.length === 0) return { settingsForm };
  const without = fields.size === 1 ? "Without it" : "Without any";
  const what = of.free === of.total ? "all actions can be tried" : `${of.free} of ${of.total} actions can be used`;
  return { settingsForm, settingsHelp: `${without}, ${what}.` };
}

function listChoice(fields: Fields, [first]: readonly OfferedWay[], parts: FormParts): Form {
  const settingsForm = [...fields].flatMap(([title, all]) => {
    const group = first?.titles.includes(title) ? {} : { group: nameScheme(title, parts) };
    return all.map((field) => ({ ...field, optional: true, ...group }));
  });
  if (settingsForm.every(({ kind }) => kind === "scopes")) return { settingsForm };
  const rest = first?.opensAll ? "." : "; those of others open more actions.";
  return { settingsForm, settingsHelp: `Only the fields of the way that you choose are needed${rest}` };
}

/** A credential that no action can do without is asked for as such. */
function markNeeded({ optional: _, ...field }: SettingField, actions: readonly StoredAction[]): SettingField {
  const isNeeded = actions.every((action) => {
    const { parameters, body } = operationCallSchema.parse(action.call);
    return (
      parameters.some(({ setting, needsSetting }) => setting === field.name && needsSetting === true) ||
      body?.settings?.some(({ setting, isNeeded }) => setting === field.name && isNeeded)
    );
  });
  return isNeeded ? field : { ...field, optional: true };
}

/** The fields of each scheme; those of a sign-in are its scopes. */
function nameFields({ schemes, signIns, more }: FormParts): Fields {
  const taken = new Set([...Object.values(schemes).map(({ setting }) => setting), ...more.map(({ name }) => name)]);
  const kinds = Object.entries(schemes).flatMap(([title, { as }]) => (signIns.has(title) ? [] : [toKind(as)]));
  return new Map(
    Object.entries(schemes).map(([title, scheme]) => {
      const signIn = signIns.get(title);
      if (signIn === undefined) {
        const isAlone = kinds.filter((kind) => kind === toKind(scheme.as)).length === 1;
        return [title, listKeyFields(scheme, isAlone ? "" : ` ${quote(title)}`)];
      }
      const name = toFreeName("scopes", (wanted) => taken.has(wanted));
      const field = describeScopes(name, signIn.scopes, signIn.chosenScopes);
      if (field !== undefined) taken.add(name);
      return [title, field === undefined ? [] : [field]];
    }),
  );
}

function toKind(as: SecurityScheme["as"]): string {
  return as === "basic" || as === "bearer" ? as : "key";
}

function listKeyFields({ setting, as, name }: SecurityScheme, mark: string): SettingField[] {
  if (as === "basic") {
    return [
      { name: `${setting}_user`, label: `User name${mark}`, kind: "text" },
      { name: setting, label: `Password${mark}`, kind: "secret" },
    ];
  }
  if (as === "bearer") return [{ name: setting, label: `Token${mark}`, kind: "secret" }];
  const help = `Sent as the ${PLACES[as]} ${name.slice(0, TITLE_MAX)}.`;
  return [{ name: setting, label: `Key${mark}`, kind: "secret", help }];
}

function describeNone({ free, total }: { free: number; total: number }): string {
  return free === total ? "Not at all: all actions can be tried" : `Not at all (for ${free} of ${total} actions)`;
}
