import { API_KEY_HEADER } from "../../../wire/auth.ts";
import { OAUTH_SCOPES } from "../../../wire/mcp.ts";
import type { OperationAccess } from "./operation.ts";

/** Ways to be let in, any one of which is enough ("Authentication"). */
export const SECURITY: Readonly<Record<OperationAccess, object[]>> = {
  key: [{ apiKey: [] }, { bearerKey: [] }],
  mcp: [{ apiKey: [] }, { bearerKey: [] }, { oauth: [OAUTH_SCOPES[0]] }],
  ingest: [{ uploadToken: [] }],
  anybody: [],
};

/** The security schemes of the document. */
export function describeSecurity(baseUrl: string): object {
  return {
    apiKey: { type: "apiKey", in: "header", name: API_KEY_HEADER, description: "Wins when both forms are sent." },
    bearerKey: { type: "http", scheme: "bearer", description: "The API key as a bearer token." },
    uploadToken: { type: "http", scheme: "bearer", description: "Single-use token of a missing_file_bytes hint." },
    oauth: {
      type: "oauth2",
      flows: {
        authorizationCode: {
          authorizationUrl: `${baseUrl}/oauth/authorize`,
          tokenUrl: `${baseUrl}/oauth/token`,
          refreshUrl: `${baseUrl}/oauth/token`,
          scopes: Object.fromEntries(OAUTH_SCOPES.map((scope) => [scope, SCOPE_MEANING[scope]])),
        },
      },
    },
  };
}

const SCOPE_MEANING: Readonly<Record<(typeof OAUTH_SCOPES)[number], string>> = {
  openid: "Identify the authorizing user; required.",
  email: "Read the user's email address.",
  profile: "Read basic profile information.",
};
