import type { Integration } from "../../../src/apps/port/integration.ts";
import { ServiceError } from "../../../src/service/service-error.ts";

/** An app for tests whose connection needs a secret, and that tells what it was given. */
export function createVault(): { readonly integration: Integration; readonly seen: unknown[] } {
  const seen: unknown[] = [];
  const base = { requiresConfirmation: false, idempotent: true, inputSchema: { type: "object", properties: {} } };
  return {
    seen,
    integration: {
      slug: "vault",
      name: "Vault",
      description: "Things behind a token.",
      category: "tests",
      scopes: ["vault.read", "vault.write"],
      settingsForm: [
        { name: "address", label: "Address", kind: "text", help: "For example https://vault.example." },
        { name: "token", label: "Access token", kind: "secret" },
        { name: "note", label: "Note", kind: "text", optional: true },
      ],
      actions: [
        {
          ...base,
          id: "look",
          title: "Look inside",
          description: "Looks.",
          level: "read",
          scopes: ["vault.read"],
          run: async (_args, { connection }) => {
            seen.push(connection.settings);
            if (connection.settings.token === "stale") {
              throw new ServiceError(401, "provider_refused", "The token is refused.", { type: "auth" });
            }
            return {};
          },
        },
        {
          ...base,
          id: "put",
          title: "Put inside",
          description: "Puts.",
          level: "write",
          scopes: ["vault.write"],
          run: async () => ({}),
        },
      ],
      async checkSettings({ address, token }) {
        if (typeof address !== "string" || !address.startsWith("https://")) {
          throw new ServiceError(422, "integration_misconfigured", 'Setting "address" must begin with https://.', {
            extra: { setting: "address" },
          });
        }
        if (token === "wrong") {
          throw new ServiceError(422, "integration_misconfigured", "The vault does not know this token.", {
            extra: { setting: "token" },
          });
        }
      },
    },
  };
}
