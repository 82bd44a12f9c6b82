import type { RuleGroup } from "./rule.ts";

/** "Errors", "Limits", "Events" and "Versioning". */
export const errorAndLimitRules: readonly RuleGroup[] = [
  {
    section: "Errors > Envelopes",
    by: "service",
    rules: {
      "errors.tool-name-envelope":
        "A tool-name failure is the raw payload: ok false, toolName, integration, error and a canonical block.",
      "errors.retryable": "error.retryable says whether the same request could succeed later.",
      "errors.bare-guard": "A request refused before any execution answers a bare error object.",
    },
  },
  {
    section: "Errors > Envelopes",
    by: "plugin",
    rules: {
      "errors.bare-accepted": "The plugin reads a bare error wherever it arrives.",
      "errors.retryable-passed": "The outcome carries the service's judgement on retrying.",
    },
  },
  {
    section: "Errors > HTTP statuses",
    by: "service",
    rules: {
      "errors.retry-after-sent": "A 429 carries Retry-After.",
    },
  },
  {
    section: "Errors > HTTP statuses",
    by: "plugin",
    rules: {
      "errors.retry-after-honoured": "The client waits at least as long as Retry-After says before it asks again.",
    },
  },
  {
    section: "Errors > Tool-endpoint codes",
    by: "service",
    rules: {
      "codes.needs-connection": "No usable connection is reported as needs_connection.",
      "codes.confirmation-required": "An unconfirmed write is reported as confirmation_required.",
      "codes.tool-not-found": "An unknown tool is reported as tool_not_found.",
      "codes.invalid-arguments": "Arguments off the schema are reported as invalid_arguments.",
      "errors.next-action-names-connect-app":
        "integration_not_connected and reauth_required name svc.connect_app with integration_id as the next action.",
      "codes.missing-file-bytes": "Unreadable local files are reported as missing_file_bytes.",
      "types.validation": "Argument problems have the type validation.",
      "types.auth": "Key and connection problems have the type auth.",
      "types.missing-scopes": "Missing scopes have the type missing_scopes.",
      "types.rate-limit": "A provider rate limit has the type rate_limit.",
      "types.network": "An unavailable provider has the type network.",
    },
  },
  {
    section: "Errors > Tool-endpoint codes",
    by: "plugin",
    rules: {
      "errors.hint-surfaced": "A hint is handed to the reader of the outcome.",
      "errors.retry-after-connecting": "When the connection is healthy the original request is retried unchanged.",
    },
  },
  {
    section: "Errors > Tool-endpoint codes",
    by: "service",
    rules: {
      "codes.media-url-not-a-file": "A URL that yields no file is reported as media_url_not_a_file.",
    },
  },
  {
    section: "Limits",
    by: "service",
    rules: {
      "limits.tools-page": "A tool page holds 50 tools by default and 200 at most.",
      "limits.file-size": "A single file holds at most 25 MB.",
      "limits.request-files": "All decoded file bytes of one request hold at most 100 MB; more answers 413.",
      "limits.bootstrap-lifetime": "A bootstrap session lives 15 minutes.",
      "limits.flows-page": "A flow page holds 30 flows by default and 100 at most.",
      "limits.max-results": "maxResults of the mail summary template is 1 to 20.",
    },
  },
  {
    section: "Limits",
    by: "plugin",
    rules: {
      "limits.client-tools-page": "The client asks for at most 200 tools in one page.",
      "limits.client-file-size": "The plugin refuses a file above 25 MB before it reads a byte.",
      "limits.client-request-files": "The plugin refuses more than 100 MB of files in one call before it reads a byte.",
    },
  },
  {
    section: "Versioning",
    by: "service",
    rules: {
      "versioning.interface-version": "The interface description carries version 1.0.0.",
      "versioning.no-path-segment": "Paths carry no version segment.",
    },
  },
  {
    section: "Versioning",
    by: "plugin",
    rules: {
      "versioning.schema-may-change":
        "Field names are read from the tool's own schema; after a change the plugin describes the tool again.",
    },
  },
  {
    section: "Versioning",
    by: "service",
    rules: {
      "versioning.card-versions": "The server card carries its version and the supported protocol versions.",
    },
  },
];
