import type { RuleGroup } from "./rule.ts";

/** "Registration" (pairing) and "Authentication". */
export const accessRules: readonly RuleGroup[] = [
  {
    section: "Endpoints > Registration: pairing",
    by: "service",
    rules: {
      "pair.start.reply":
        "POST /api/plugin/pair/start answers 200 with the strings sessionToken, pairUrl, verifier and expiresAt.",
      "pair.start.no-key": "Starting a pairing needs no key.",
      "pair.start.body-optional": "Starting a pairing works without a body.",
      "pair.start.device-label": "deviceLabel is shown on the approval page.",
      "pair.start.client": "client may be cli.",
      "pair.start.display-code": "displayCode, when given, is the code that the approval page shows too.",
      "pair.start.optional-members": "deviceLabel is a string or null, status a string, pollIntervalMs an integer.",
      "pair.start.bad-request": "A malformed start answers a bare error.",
      "pair.approval-needs-human": "A pairing is approved only by a signed-in human in a browser.",
      "pair.exchange.reply": "The exchange answers 200 with apiKey, apiKeyId and session.",
      "pair.exchange.no-key": "The exchange needs no key.",
      "pair.exchange.verifier-required": "An exchange without verifier answers 400.",
      "pair.exchange.token-not-sufficient": "The session token without the right verifier yields no key.",
      "pair.exchange.not-approved": "Exchanging before the approval answers a bare error and no key.",
      "pair.exchange.expired": "Exchanging an expired session answers a bare error and no key.",
      "pair.exchange.unknown": "Exchanging an unknown session answers a bare error.",
      "pair.exchange.once": "The live key is handed out only once.",
      "pair.key-stored-as-hash": "The service keeps only the SHA-256 hash of a key.",
    },
  },
  {
    section: "Endpoints > Registration: pairing",
    by: "plugin",
    rules: {
      "pair.client-waits-for-human": "The plugin starts a pairing, shows link and code, and waits for the approval.",
      "pair.client-keeps-verifier": "The verifier stays on the calling machine and goes only into the exchange.",
      "pair.client-optional-members": "A start answer without the optional members is enough for the plugin.",
      "pair.client-stores-key": "The plugin stores the key where only its owner can read it.",
      "pair.client-explains-failure": "An invalid, expired or denied session ends in an error that says what to do.",
    },
  },
  {
    section: "Authentication",
    by: "service",
    rules: {
      "auth.key-required": "Authentication 1: every endpoint but the listed ones refuses a call without a live key.",
      "auth.key-prefix": "Authentication 2: a key begins with svc_live_.",
      "auth.header-own": "Authentication 2: the key is accepted in x-svc-api-key.",
      "auth.header-bearer": "Authentication 2: the key is accepted as a bearer token.",
      "auth.key-shown-once": "Authentication 3: a key cannot be read again after its exchange.",
      "auth.bare-401": "Authentication 5: discovery paths answer a missing or invalid key by 401 with a bare error.",
      "auth.envelope-401":
        "Authentication 5: the tool-name execute endpoint answers a missing or invalid key by 401 with an envelope.",
      "auth.ingest-token": "Authentication 6: the ingest endpoint is authenticated by its token alone.",
      "auth.open-bootstrap": "Authentication 1: creating a bootstrap session needs no key.",
    },
  },
  {
    section: "Authentication",
    by: "plugin",
    rules: {
      "auth.client-sends-key": "The client sends the key on every endpoint that needs one and on no other.",
      "auth.client-missing-key": "Without a key the client refuses before any request and says how to get one.",
      "auth.client-refused-key": "The client tells a refused key from other 401 answers.",
    },
  },
  {
    section: "Authentication",
    by: "service",
    rules: {
      "auth.summary-401": "Authentication 5: the canonical execute endpoint answers a bad key in its own shape.",
      "auth.oauth-on-mcp": "Authentication 4: /api/mcp also accepts an OAuth 2.0 access token.",
      "auth.oauth-code-flow":
        "Authentication 4: the authorization code flow runs at /oauth/authorize and /oauth/token.",
      "auth.oauth-refresh": "Authentication 4: a refresh token is redeemed at /oauth/token.",
      "auth.oauth-scopes": "Authentication 4: the scopes are openid, email and profile; openid is the required one.",
      "auth.oauth-discovery": "Authentication 4: discovery starts at /.well-known/oauth-protected-resource.",
      "auth.oauth-registration": "Authentication 4: clients register as the authorization server metadata says.",
      "auth.open-server-card": "Authentication 1: the server card needs no key.",
    },
  },
];
