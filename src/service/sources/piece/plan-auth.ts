import type { SourceContent } from "../source-content.ts";
import type { PieceAuthPlan } from "./piece-definition.ts";
import type { PieceAuth, PieceProperty } from "./piece-description.ts";

type Setting = SourceContent["settingsForm"][number];
type AuthType = (typeof ORDER)[number];

/** Best first: with what the owner pastes; OAuth2 comes last, because he has to register an app of his own for it. */
const ORDER = ["SECRET_TEXT", "CUSTOM_AUTH", "BASIC_AUTH", "OAUTH2"] as const;
const HELP_MAX = 300;

/** How connections of a piece sign in, and what their owner is asked for. */
interface PlannedAuth {
  readonly plan: PieceAuthPlan;
  readonly form: Setting[];
  readonly notes: readonly string[];
}

/** Chooses one of the ways in which a piece signs in. */
export function planAuth(ways: readonly PieceAuth[]): PlannedAuth {
  const type = ORDER.find((one) => ways.some((way) => way.type === one));
  const way = ways.find((one) => one.type === type);
  if (way === undefined || type === undefined) {
    const unknown = ways.filter((one) => one.type !== "NONE").map((one) => one.type);
    const notes = unknown.length === 0 ? [] : [`It signs in by ${unknown.join(", ")}, which is not known here.`];
    return { plan: { type: "NONE", fields: [] }, form: [], notes };
  }
  const properties = listProperties(way, type);
  const fields = properties.map((one) => ({ setting: one.name, name: one.name, type: one.type }));
  const form = properties.map((property) => toSetting(property, way));
  if (type !== "OAUTH2") return { plan: { type, fields }, form, notes: [] };
  return { plan: { type, fields, oauth: way.oauth }, form: [...OAUTH_FORM, ...form], notes: [describeOAuth(way)] };
}

function describeOAuth({ oauth }: PieceAuth): string {
  const host = URL.parse(oauth?.tokenUrl.replaceAll(/[{}]/g, "") ?? "")?.host ?? "its provider";
  return `It signs in by OAuth: register an app with its provider. Client secret and refresh token are sent to ${host}; an access token that you paste is not renewed.`;
}

/** What the service keeps to itself: the piece is given the access token only. */
const OAUTH_FORM: readonly Setting[] = [
  {
    name: "client_id",
    label: "Client id",
    kind: "text",
    optional: true,
    help: "Of the app that you registered with the provider.",
  },
  { name: "client_secret", label: "Client secret", kind: "secret", optional: true },
  {
    name: "refresh_token",
    label: "Refresh token",
    kind: "secret",
    optional: true,
    help: "The service gets access tokens with it.",
  },
];

function listProperties(way: PieceAuth, type: AuthType): PieceProperty[] {
  const own = way.properties.filter((one) => one.type !== "MARKDOWN");
  const secret = { ...way, type: "SECRET_TEXT", refreshers: [], searches: false, properties: undefined };
  switch (type) {
    case "SECRET_TEXT":
      return [{ ...secret, name: "secret" }];
    case "OAUTH2":
      return [{ ...secret, ...ACCESS_TOKEN }, ...own];
    case "BASIC_AUTH":
      return own.map((one) => ({
        ...one,
        required: true,
        type: one.name === "password" ? "SECRET_TEXT" : "SHORT_TEXT",
      }));
    case "CUSTOM_AUTH":
      return own;
  }
}

const ACCESS_TOKEN = {
  name: "access_token",
  displayName: "Access token",
  description: "Only without a refresh token: it is used until it ends.",
  required: false,
};

function toSetting(property: PieceProperty, way: PieceAuth): Setting {
  const { name, displayName, required } = property;
  const help = (property.description || way.description).replaceAll(/\s+/g, " ").trim().slice(0, HELP_MAX);
  const options = (property.options ?? []).flatMap(({ label, value }) =>
    typeof value === "string" ? [{ value, label: label || value }] : [],
  );
  const kind = property.type === "SECRET_TEXT" ? "secret" : options.length > 0 ? "choice" : "text";
  return {
    name,
    label: displayName || name,
    kind,
    ...(kind === "choice" && { options }),
    ...(!required && { optional: true }),
    ...(help !== "" && { help }),
  };
}

/** Setting under which a call finds what the provider gave beside the token; never stored. */
export const TOKEN_DATA = "token_data";

/** What a piece is given to sign in with; null when it needs nothing. */
export function buildAuth({ type, fields }: PieceAuthPlan, settings: Readonly<Record<string, unknown>>): unknown {
  const given = fields.flatMap(({ setting, name, type }) => {
    const value = settings[setting];
    return typeof value === "string" && value !== "" ? [[name, readValue(type, value)] as const] : [];
  });
  const values: Record<string, unknown> = Object.fromEntries(given);
  switch (type) {
    case "NONE":
      return null;
    case "SECRET_TEXT":
      return { type, secret_text: values.secret };
    case "BASIC_AUTH":
      return { type, username: values.username, password: values.password };
    case "CUSTOM_AUTH":
      return { type, props: values };
    case "OAUTH2": {
      const { access_token, ...props } = values;
      return { type, access_token, props, data: settings[TOKEN_DATA] ?? {} };
    }
  }
}

function readValue(type: string, text: string): unknown {
  if (type === "NUMBER") return Number(text);
  return type === "CHECKBOX" ? /^(?:true|yes|1)$/i.test(text.trim()) : text;
}
