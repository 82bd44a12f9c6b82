import { SLACK_SCOPES } from "./known-apps.ts";

/** What the owner does at a provider to register this service there. */
interface ProviderSteps {
  readonly name: string;
  /** Hosts of its sign-in page; one that begins with a dot stands for all hosts below it. */
  readonly hosts: readonly string[];
  /** The page on which it begins. */
  readonly page: string;
  /** One click or a few each, in their order. */
  readonly steps: readonly string[];
}

const REDIRECT = "the redirect address above";

/** Written from the documentation of the providers, read on the day of `KNOWN_APPS_CHECKED`; none was tried. */
const PROVIDERS: readonly ProviderSteps[] = [
  {
    name: "Google",
    hosts: ["accounts.google.com"],
    page: "https://console.cloud.google.com/auth/clients",
    steps: [
      "Create or choose a project, and enable the API of the app there (APIs & Services, Library).",
      "At Branding and Audience give a name, choose External, and add your own address as a test user.",
      `At Clients choose Create client, Web application, and add ${REDIRECT} at “Authorized redirect URIs”.`,
      "Copy the client ID and the client secret.",
    ],
  },
  {
    name: "Microsoft",
    hosts: ["login.microsoftonline.com"],
    page: "https://entra.microsoft.com/#view/Microsoft_AAD_RegisteredApps/ApplicationsListBlade",
    steps: [
      "Choose New registration, and accounts in any organizational directory and personal Microsoft accounts.",
      `At Redirect URI choose Web and paste ${REDIRECT}; then Register.`,
      "Copy the Application (client) ID of the overview.",
      "At Certificates & secrets choose New client secret, and copy its Value, not its ID.",
    ],
  },
  {
    name: "Slack",
    hosts: ["slack.com", ".slack.com"],
    page: "https://api.slack.com/apps",
    steps: [
      "Choose Create New App, From scratch, and your workspace.",
      "At Agents & AI Apps switch on Model Context Protocol.",
      `At OAuth & Permissions add ${REDIRECT} at Redirect URLs, and at User Token Scopes: ${SLACK_SCOPES.join(", ")}.`,
      "Copy the Client ID and the Client Secret at Basic Information.",
    ],
  },
  {
    name: "GitHub",
    hosts: ["github.com"],
    page: "https://github.com/settings/developers",
    steps: [
      "Choose OAuth Apps, New OAuth App, and give a name and any homepage.",
      `At Authorization callback URL paste ${REDIRECT}; then Register application.`,
      "Copy the Client ID, choose Generate a new client secret, and copy that.",
    ],
  },
  {
    name: "Atlassian",
    hosts: ["auth.atlassian.com", "mcp.atlassian.com"],
    page: "https://developer.atlassian.com/console/myapps/",
    steps: [
      "Choose Create, OAuth 2.0 integration, and give a name.",
      `At Authorization add OAuth 2.0 with ${REDIRECT} as the Callback URL.`,
      "At Permissions add the APIs that agents may use.",
      "Copy the Client ID and the Secret at Settings.",
    ],
  },
  {
    name: "Notion",
    hosts: ["api.notion.com", "mcp.notion.com"],
    page: "https://www.notion.so/profile/integrations",
    steps: [
      "Choose New integration, of the type Public, and your workspace.",
      `Paste ${REDIRECT} at Redirect URIs, and save.`,
      "Copy the OAuth client ID and the OAuth client secret at Configuration.",
    ],
  },
  {
    name: "Linear",
    hosts: ["linear.app", "mcp.linear.app"],
    page: "https://linear.app/settings/api/applications/new",
    steps: [
      `Give a name, paste ${REDIRECT} at Callback URLs, and choose Create.`,
      "Copy the Client ID and the Client secret.",
    ],
  },
  {
    name: "Asana",
    hosts: ["app.asana.com", "mcp.asana.com"],
    page: "https://app.asana.com/0/my-apps",
    steps: [
      "Choose Create new app, give a name, and choose MCP app.",
      `At OAuth add ${REDIRECT} as a Redirect URL.`,
      "At Manage distribution choose your workspace.",
      "Copy the Client ID and the Client secret.",
    ],
  },
  {
    name: "HubSpot",
    hosts: ["app.hubspot.com", "mcp.hubspot.com", ".hubspot.com"],
    page: "https://app.hubspot.com/l/mcp-auth-apps/",
    steps: [
      `Choose Create MCP auth app, give a name, and paste ${REDIRECT} at Redirect URL.`,
      "Copy the Client ID and the Client secret of its page.",
    ],
  },
];

/** The steps of the provider whose sign-in page this is; undefined for one that is not known. */
export function findProviderSteps(page: string | undefined): ProviderSteps | undefined {
  const host = URL.parse(page ?? "")?.hostname ?? "";
  return PROVIDERS.find(({ hosts }) =>
    hosts.some((known) => (known.startsWith(".") ? host.endsWith(known) : host === known)),
  );
}
