import { z } from "zod";

const partSchema = z.looseObject({ title: z.string(), description: z.string() });
const settingSchema = partSchema.extend({
  default: z.unknown().optional(),
  properties: z.record(z.string(), partSchema).optional(),
});

const pluginManifestSchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  version: z.string(),
  description: z.string(),
  entries: z.looseObject({
    openclaw: z.looseObject({
      title: z.string(),
      category: z.string(),
      groups: z.array(z.object({ id: z.string(), title: z.string(), settings: z.array(z.string()) })),
      commands: z.array(z.looseObject({ name: z.string() })),
      settings: z.record(z.string(), settingSchema),
    }),
  }),
  skills: z.array(z.string()),
  configSchema: z.looseObject({ properties: z.record(z.string(), settingSchema) }),
  secrets: z.array(
    z.looseObject({
      name: z.string(),
      title: z.string(),
      description: z.string(),
      env: z.string(),
      prefix: z.string(),
    }),
  ),
  tools: z.looseObject({ static: z.array(z.string()), changing: z.array(z.string()) }),
  onboarding: z.array(z.looseObject({ method: z.string(), title: z.string(), description: z.string() })),
});

type PluginManifest = z.infer<typeof pluginManifestSchema>;

/** Every profile of the host: without this a tool is missing under all but `full`. */
const PROFILES = ["minimal", "coding", "messaging", "full"];
/** The one setting most people need; the others are folded away. */
const PLAIN_SETTING = "baseUrl";
const GROUP = { groupId: "svc", groupLabel: "svc (your apps as tools, not a model)" };
/** A key or a reference to one. One schema for both: the host draws alternatives as a field for JSON that it does not mask. */
const SECRET = {
  type: ["string", "object"],
  minLength: 1,
  additionalProperties: false,
  properties: {
    source: { type: "string", enum: ["env", "file", "exec", "store"] },
    provider: { type: "string" },
    id: { type: "string" },
  },
  required: ["source", "provider", "id"],
};

/** `openclaw.plugin.json`, worked out from `plugin.manifest.json`: what OpenClaw reads before it loads any code. */
export function createHostManifest(pluginManifest: unknown): Record<string, unknown> {
  const manifest = pluginManifestSchema.parse(pluginManifest);
  const { id, version, description, entries, onboarding, secrets, skills, tools } = manifest;
  const [pair] = onboarding;
  const methods = onboarding.map(({ method }) => method);
  return {
    id,
    name: entries.openclaw.title,
    version,
    description,
    categories: [entries.openclaw.category],
    activation: { onStartup: true },
    skills: [...new Set(skills.map((folder) => folder.slice(0, folder.lastIndexOf("/"))))],
    contracts: { tools: tools.static },
    toolMetadata: Object.fromEntries(tools.static.map((tool) => [tool, describeTool(tool, tools.changing)])),
    cliCommands: entries.openclaw.commands,
    commandAliases: [{ name: id, kind: "runtime-slash", cliCommand: id }],
    providers: [id],
    setup: {
      providers: [{ id, authMethods: methods, envVars: secrets.map(({ env }) => env) }],
      requiresRuntime: false,
    },
    providerAuthChoices: methods.map((method) => ({
      provider: id,
      method,
      choiceId: `${id}-${method}`,
      // It stands in lists of every provider, of which most name themselves.
      choiceLabel: `${id}: ${pair?.title}`,
      choiceHint: pair?.description,
      ...GROUP,
      credentialOnly: true,
      appGuidedAuth: "device-code",
      channelLogin: { aliases: [id] },
    })),
    // What was always allowed and the journal of writes, which no sign-in brings back.
    backupResources: [{ disposition: "include", scope: "state", relativePath: id }],
    configContracts: { secretInputs: { paths: secrets.map((secret) => ({ path: secret.name, expected: "string" })) } },
    configSchema: createConfigSchema(manifest),
    configGroups: entries.openclaw.groups.map(({ id, title, settings }, index) => {
      return { id, title, order: (index + 1) * 10, properties: settings };
    }),
    uiHints: createHints(manifest),
  };
}

function describeTool(tool: string, changing: readonly string[]) {
  return { profiles: PROFILES, ...(changing.includes(tool) ? { sideEffecting: true } : { replaySafe: true }) };
}

function listSettings({ configSchema, entries }: PluginManifest) {
  return Object.entries({ ...configSchema.properties, ...entries.openclaw.settings });
}

/** Every setting is optional. Defaults are told, not declared: the host would hand a declared one over as if it was set. */
function createConfigSchema(manifest: PluginManifest) {
  const settings = listSettings(manifest).map(([name, { default: standard, title: _, ...setting }]) => {
    const told = standard === undefined ? "" : ` Default: ${standard}.`;
    return [name, { ...setting, description: describeSetting(setting.description) + told }] as const;
  });
  const secrets = manifest.secrets.map(({ name, description }) => {
    return [name, { description, ...SECRET }] as const;
  });
  return { type: "object", additionalProperties: false, properties: Object.fromEntries([...settings, ...secrets]) };
}

/** Variables are a matter of the command line: inside OpenClaw the `.env` of a working folder could set them. */
function describeSetting(description: string): string {
  return description.replace(/ Environment: \w+\./, "");
}

function createHints(manifest: PluginManifest) {
  const settings = listSettings(manifest).flatMap(([name, { title, description, default: standard, properties }]) => {
    const help = describeSetting(description);
    const placeholder = typeof standard === "string" ? { placeholder: standard } : {};
    const folded = name === PLAIN_SETTING ? {} : { advanced: true };
    const parts = Object.entries(properties ?? {}).map(([part, told]) => {
      return [`${name}.${part}`, { label: told.title, help: told.description, ...folded }] as const;
    });
    return [[name, { label: title, help, ...placeholder, ...folded }] as const, ...parts];
  });
  const secrets = manifest.secrets.map(({ name, title, description, prefix }) => {
    return [name, { label: title, help: description, placeholder: `${prefix}…`, sensitive: true }] as const;
  });
  return Object.fromEntries([...settings, ...secrets]);
}
