import type { Integration, OAuthClient } from "../../../../../src/service/integrations/integration.ts";
import { createProviderError } from "../../../../../src/service/integrations/provider-failure.ts";
import { ServiceError } from "../../../../../src/service/service-error.ts";

type Settings = Readonly<Record<string, unknown>>;

/** An integration of an owner's program that signs in on the page of its provider; `apiUrl` lists letters. */
export function createLetterIntegration({ apiUrl, tokenUrl }: { apiUrl: string; tokenUrl: string }): Integration {
  const readClient = (settings: Settings): OAuthClient => {
    const clientId = readText(settings, "client_id");
    if (clientId === undefined) throw refuse("client_id", "Letter needs the client id of your app.");
    return {
      tokenUrl,
      clientId,
      clientSecret: readText(settings, "client_secret"),
      clientIn: "header",
      isPrivate: true,
    };
  };
  return {
    slug: "letter",
    name: "Letter",
    description: "Lists letters.",
    category: "test",
    scopes: [],
    settingsForm: [
      { name: "client_id", label: "Client id", kind: "text", optional: true },
      { name: "client_secret", label: "Client secret", kind: "secret", optional: true },
      { name: "refresh_token", label: "Refresh token", kind: "secret", optional: true },
      { name: "access_token", label: "Access token", kind: "secret", optional: true },
    ],
    actions: [
      {
        id: "list",
        title: "List letters",
        description: "Lists letters.",
        level: "read",
        requiresConfirmation: false,
        idempotent: true,
        inputSchema: { type: "object", properties: {} },
        scopes: [],
        async run(_args, { connection, signal }) {
          const headers = { authorization: `Bearer ${connection.settings.access_token}` };
          const answer = await fetch(apiUrl, { headers, signal });
          if (answer.ok) return answer.json();
          const call = { app: "Letter", action: { level: "read", idempotent: true } } as const;
          throw createProviderError({ kind: "status", status: answer.status }, call);
        },
      },
    ],
    async checkSettings(settings) {
      if (readText(settings, "access_token") !== undefined || readText(settings, "refresh_token") !== undefined) return;
      throw refuse("refresh_token", "Letter needs a refresh token.");
    },
    findGrant(settings) {
      const refreshToken = readText(settings, "refresh_token");
      if (refreshToken === undefined) return undefined;
      const useToken = ({ text }: { text: string }) => ({ ...settings, access_token: text });
      return { ...readClient(settings), refreshToken, setting: "refresh_token", useToken };
    },
    findSignIn: (settings) => ({
      ...readClient(settings),
      authUrl: "https://letter.test/authorize?scope=letters.read",
      pkce: true,
      settings: { refreshToken: "refresh_token", accessToken: "access_token" },
    }),
  };
}

function readText(settings: Settings, name: string): string | undefined {
  const value = settings[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function refuse(setting: string, message: string): ServiceError {
  return new ServiceError(422, "integration_misconfigured", message, { type: "configuration", extra: { setting } });
}
