import { type KnownWay, searchKnownApps, writeLongCommand } from "../../apps/known/known-app-command.ts";
import { KNOWN_APPS_CHECKED, type KnownApp, knownApps } from "../../apps/known/known-apps.ts";
import { SvcError } from "../../shared/errors.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { wrapWords } from "../terminal.ts";
import { addMcp } from "./add-mcp.ts";
import { addOpenApi } from "./add-openapi.ts";
import type { AddFlags } from "./add-source.ts";

interface KnownFlags extends AddFlags {
  readonly url?: string;
  readonly header?: readonly string[];
  readonly private?: true;
}

/** `svc add`, and `svc add NAME`: prints the long command that the name stands for, and does the same. */
export async function addKnown(context: CliContext, slug: string | undefined, flags: KnownFlags): Promise<number> {
  if (slug === undefined) return listKnown(context);
  const app = knownApps.find((one) => one.slug === slug.toLowerCase());
  if (app === undefined) throw unknown(slug);
  const { terminal } = context;
  const way = planKnown(app, flags);
  const origin = `Its address is from ${app.source}, read on ${KNOWN_APPS_CHECKED}; it was not tried.`;
  terminal.say(`"svc add ${app.slug}" stands for:\n  ${writeLongCommand(app, way)}`);
  for (const text of [...(flags.url === undefined ? [origin] : []), `You need ${app.needs}.`]) {
    terminal.say(wrapWords(text, terminal.columns, "  "));
  }
  terminal.say();
  const { address, ...options } = way;
  return app.kind === "mcp"
    ? addMcp(context, app.slug, [], { ...flags, ...options, url: address })
    : addOpenApi(context, app.slug, address, { ...flags, ...options });
}

/**
 * How an app is added: as the table says, but for what the owner says instead. A header takes the place of a sign-in, and
 * levels of the owner come last, so that they count over the others.
 *
 * @throws SvcError `invalid_config`, field `--header`, for an app that takes none.
 */
export function planKnown(app: KnownApp, flags: KnownFlags): KnownWay {
  const { url: address = app.address, name = app.name, header, private: isPrivate } = flags;
  if (header !== undefined && app.kind === "openapi") throw noHeader(app);
  const { scope, level: levels = [], ...options } = app.options;
  const level = [...levels, ...(flags.level ?? [])];
  return {
    address,
    name,
    ...options,
    ...(header === undefined ? scope && { scope } : { header }),
    ...(isPrivate && { private: isPrivate }),
    ...(level.length > 0 && { level }),
  };
}

function listKnown({ terminal }: CliContext): number {
  const width = (key: "slug" | "name") => Math.max(...knownApps.map((app) => app[key].length));
  const [slugs, names] = [width("slug"), width("name")];
  const groups = Map.groupBy(knownApps, ({ group }) => group);
  terminal.answer(
    knownApps.map((app) => ({ ...app, checked: KNOWN_APPS_CHECKED, tried: false })),
    () =>
      [...groups]
        .flatMap(([group, apps]) => [
          terminal.style("bold", group),
          ...apps.map(({ slug, name, about }) => `  ${slug.padEnd(slugs)}  ${name.padEnd(names)}  ${about}`),
          "",
        ])
        .join("\n")
        .trimEnd(),
  );
  const rest = `Their addresses are as published, read on ${KNOWN_APPS_CHECKED}, and were not tried. For any other app: "svc add mcp --help", "svc add openapi --help".`;
  if (!terminal.json) terminal.say(`\nNext: "svc add <name>".\n${wrapWords(rest, terminal.columns, "")}`);
  return EXIT.ok;
}

function unknown(slug: string): SvcError {
  const close = searchKnownApps(slug).slice(0, 3);
  const names = close.map((app) => `"svc add ${app.slug}"`).join(", ");
  const rest = '"svc add" lists all names; "svc add mcp" and "svc add openapi" add anything else.';
  return new SvcError("invalid_config", `No app is known by the name "${slug}".`, {
    field: "app",
    hint: names === "" ? rest : `Did you mean ${names}? ${rest}`,
  });
}

function noHeader({ slug, name }: KnownApp): SvcError {
  return new SvcError("invalid_config", `${name} is an OpenAPI document, which names its keys itself.`, {
    field: "--header",
    hint: `Leave --header away: "svc connect ${slug}" leads to the form that asks for them.`,
  });
}
