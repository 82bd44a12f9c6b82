import type { Integration } from "../../../../../src/apps/port/integration.ts";
import { createProviderError } from "../../../../../src/apps/port/provider-failure.ts";
import { ServiceError } from "../../../../../src/service/service-error.ts";

type Settings = Readonly<Record<string, unknown>>;

/** An integration of an owner's program that signs in on the page of its provider; `apiUrl` lists letters. */
export function createLetterIntegration({ apiUrl, tokenUrl }: { apiUrl: string; tokenUrl: string }): Integration {
  return {
    slug: "letter",
    name: "Letter",
    description: "Lists letters.",
    category: "test",
    scopes: [],
    settingsForm: [{ name: "box", label: "Letter box", kind: "text", optional: true }],
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
          const headers = { authorization: `Bearer ${connection.settings.accessToken}` };
          const answer = await fetch(apiUrl, { headers, signal });
          if (answer.ok) return answer.json();
          const call = { app: "Letter", action: { level: "read", idempotent: true } } as const;
          throw createProviderError({ kind: "status", status: answer.status }, call);
        },
      },
    ],
    async checkSettings() {},
    findSignIn(settings) {
      if (readText(settings, "box") === undefined) throw refuse("box", "Letter needs the name of a box.");
      return {
        provider: { authUrl: "https://letter.test/authorize?view=small", tokenUrl },
        flow: "code",
        scopes: ["letters.read"],
        isPrivate: true,
        useToken: ({ text }) => ({ ...settings, accessToken: text }),
      };
    },
  };
}

function readText(settings: Settings, name: string): string | undefined {
  const value = settings[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function refuse(setting: string, message: string): ServiceError {
  return new ServiceError(422, "integration_misconfigured", message, { type: "configuration", extra: { setting } });
}
