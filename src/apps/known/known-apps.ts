/** How the owner signs in: on the provider's page, there with an app of their own, with a key, or with a header. */
type KnownSignIn = "page" | "own app" | "key" | "header";

/** Options of `svc add mcp` or `svc add openapi`, named as the command line names them. */
export interface KnownOptions {
  readonly trust?: true;
  readonly private?: true;
  readonly header?: readonly string[];
  readonly scope?: readonly string[];
  /** Levels of actions whose mark, or HTTP method, tells too little. */
  readonly level?: readonly string[];
  readonly baseUrl?: string;
  readonly authUrl?: string;
  readonly tokenUrl?: string;
}

/** An app that the owner adds by its name. Nothing here is tried against the real address: each says where it is published. */
export interface KnownApp {
  readonly slug: string;
  readonly name: string;
  readonly group: "Work" | "Google" | "Microsoft" | "Home and chat";
  /** What agents do with it: at most 40 characters. */
  readonly about: string;
  readonly kind: "mcp" | "openapi";
  /** The MCP server, or the document. */
  readonly address: string;
  readonly options: KnownOptions;
  readonly signIn: KnownSignIn;
  /** What the owner needs first, to be read after "You need". */
  readonly needs: string;
  /** Where the address is published. */
  readonly source: string;
}

/** Day on which the sources of {@link knownApps} were read. */
export const KNOWN_APPS_CHECKED = "2026-11-25";

/** User scopes to read what the owner reads in Slack, and to write messages. */
export const SLACK_SCOPES = [
  ...["search:read.public", "search:read.private", "search:read.users", "channels:history", "groups:history"],
  ...["users:read", "chat:write"],
];

const ACCOUNT = "nothing but your account";
const OWN_APP = "an app of your own there; the sign-in page has the steps";
const GOOGLE_DOCS = "https://developers.google.com/discovery/v1/reference/apis/list";
const GRAPH = "https://raw.githubusercontent.com/microsoftgraph/msgraph-sdk-powershell/main/openApiDocs/v1.0";
const GRAPH_DOCS = "https://github.com/microsoftgraph/msgraph-sdk-powershell/tree/main/openApiDocs/v1.0";

/** The MCP server of a provider that registers its clients itself. */
function server(app: Pick<KnownApp, "slug" | "name" | "about" | "address" | "source">): KnownApp {
  return { ...app, group: "Work", kind: "mcp", options: { trust: true }, signIn: "page", needs: ACCOUNT };
}

function google(app: Pick<KnownApp, "slug" | "name" | "about" | "address">, scope: string, level?: string): KnownApp {
  const options = {
    scope: [`https://www.googleapis.com/auth/${scope}`],
    ...(level !== undefined && { level: [level] }),
  };
  return { ...app, group: "Google", kind: "openapi", options, signIn: "own app", needs: OWN_APP, source: GOOGLE_DOCS };
}

function microsoft(app: Pick<KnownApp, "slug" | "name" | "about">, document: string, scopes: string[]): KnownApp {
  const login = "https://login.microsoftonline.com/common/oauth2/v2.0";
  return {
    ...app,
    group: "Microsoft",
    kind: "openapi",
    address: `${GRAPH}/${document}.yml`,
    options: {
      baseUrl: "https://graph.microsoft.com/v1.0",
      authUrl: `${login}/authorize`,
      tokenUrl: `${login}/token`,
      scope: [...scopes, "offline_access"],
      level: ["*permanentDelete*=delete"],
    },
    signIn: "own app",
    needs: OWN_APP,
    source: GRAPH_DOCS,
  };
}

/** The reviewed table behind `svc add NAME`. */
export const knownApps: readonly KnownApp[] = [
  {
    ...server({
      slug: "github",
      name: "GitHub",
      about: "Repositories, issues, pull requests",
      address: "https://api.githubcopilot.com/mcp/",
      source: "https://github.com/github/github-mcp-server/blob/main/docs/host-integration.md",
    }),
    options: { trust: true, scope: ["repo", "read:org", "read:user"] },
    signIn: "own app",
    needs: OWN_APP,
  },
  server({
    slug: "linear",
    name: "Linear",
    about: "Issues, projects, comments",
    address: "https://mcp.linear.app/mcp",
    source: "https://linear.app/docs/mcp",
  }),
  {
    ...server({
      slug: "slack",
      name: "Slack",
      about: "Search, channels, messages",
      address: "https://mcp.slack.com/mcp",
      source: "https://docs.slack.dev/ai/slack-mcp-server/",
    }),
    options: { trust: true, scope: SLACK_SCOPES },
    signIn: "own app",
    needs: "an app of your own in your workspace; the sign-in page has the steps",
  },
  server({
    slug: "notion",
    name: "Notion",
    about: "Pages, databases, search",
    address: "https://mcp.notion.com/mcp",
    source: "https://developers.notion.com/docs/mcp",
  }),
  {
    ...server({
      slug: "atlassian",
      name: "Atlassian",
      about: "Jira, Confluence, Bitbucket",
      address: "https://mcp.atlassian.com/v2/mcp",
      source: "https://github.com/atlassian/atlassian-mcp-server",
    }),
    needs: "an administrator who allows the address of your svc, where that is not localhost",
  },
  server({
    slug: "sentry",
    name: "Sentry",
    about: "Errors, issues, traces",
    address: "https://mcp.sentry.dev/mcp",
    source: "https://github.com/getsentry/sentry-mcp",
  }),
  {
    ...server({
      slug: "asana",
      name: "Asana",
      about: "Tasks, projects, goals",
      address: "https://mcp.asana.com/v2/mcp",
      source: "https://developers.asana.com/docs/integrating-with-asanas-mcp-server",
    }),
    signIn: "own app",
    needs: OWN_APP,
  },
  {
    ...server({
      slug: "hubspot",
      name: "HubSpot",
      about: "Contacts, companies, deals",
      address: "https://mcp.hubspot.com",
      source:
        "https://developers.hubspot.com/docs/apps/developer-platform/build-apps/integrate-with-hubspot-mcp-server",
    }),
    signIn: "own app",
    needs: OWN_APP,
  },
  {
    ...server({
      slug: "stripe",
      name: "Stripe",
      about: "Customers, payments, invoices",
      address: "https://mcp.stripe.com",
      source: "https://docs.stripe.com/mcp",
    }),
    needs: "an administrator who allows MCP access in the dashboard of Stripe",
  },
  server({
    slug: "todoist",
    name: "Todoist",
    about: "Tasks and projects",
    address: "https://ai.todoist.net/mcp",
    source: "https://github.com/Doist/todoist-ai",
  }),
  server({
    slug: "airtable",
    name: "Airtable",
    about: "Bases, tables, records",
    address: "https://mcp.airtable.com/mcp",
    source: "https://support.airtable.com/docs/using-the-airtable-mcp-server",
  }),
  google(
    {
      slug: "google-calendar",
      name: "Google Calendar",
      about: "Calendars and events",
      address: "https://www.googleapis.com/discovery/v1/apis/calendar/v3/rest",
    },
    "calendar",
    "*_calendars_clear=delete",
  ),
  google(
    {
      slug: "google-drive",
      name: "Google Drive",
      about: "Files, folders, permissions",
      address: "https://www.googleapis.com/discovery/v1/apis/drive/v3/rest",
    },
    "drive",
  ),
  google(
    {
      slug: "gmail",
      name: "Gmail",
      about: "Mails, labels, drafts",
      address: "https://gmail.googleapis.com/$discovery/rest?version=v1",
    },
    "gmail.modify",
    "*_batchDelete=delete",
  ),
  microsoft({ slug: "outlook-mail", name: "Outlook mail", about: "Mails and folders (Microsoft Graph)" }, "Mail", [
    "Mail.ReadWrite",
    "Mail.Send",
  ]),
  microsoft(
    { slug: "outlook-calendar", name: "Outlook calendar", about: "Calendars, events (Microsoft Graph)" },
    "Calendar",
    ["Calendars.ReadWrite"],
  ),
  microsoft({ slug: "onedrive", name: "OneDrive", about: "Files and folders (Microsoft Graph)" }, "Files", [
    "Files.ReadWrite",
  ]),
  {
    slug: "telegram",
    name: "Telegram",
    group: "Home and chat",
    about: "Messages of a bot of yours",
    kind: "openapi",
    address: "https://raw.githubusercontent.com/Sysbot-org/tgscraper/master/schemas/botapi_openapi.json",
    options: {
      baseUrl: "https://api.telegram.org/bot{token}",
      level: ["get*=read", "getUpdates=write", "delete*=delete"],
    },
    signIn: "key",
    needs: "the token of a bot from @BotFather; the document is made from Telegram's, by others",
    source: "https://core.telegram.org/bots/api and https://github.com/Sysbot-org/tgscraper",
  },
  {
    slug: "home-assistant",
    name: "Home Assistant",
    group: "Home and chat",
    about: "Lights, sensors, scenes of your home",
    kind: "mcp",
    address: "http://homeassistant.local:8123/api/mcp",
    options: { private: true, header: ["Authorization"], level: ["Get*=read"] },
    signIn: "header",
    needs: 'its integration "Model Context Protocol Server", and SVC_HEADER_AUTHORIZATION="Bearer TOKEN" with a token',
    source: "https://www.home-assistant.io/integrations/mcp_server/",
  },
];
