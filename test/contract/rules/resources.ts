import type { RuleGroup } from "./rule.ts";

/** "What the service does" and "Resources and their fields", as far as the tool-name half goes. */
export const resourceRules: readonly RuleGroup[] = [
  {
    section: "What the service does",
    by: "service",
    rules: {
      "models.tool-name.path-identity": "The tool-name model takes the action from the full tool name in the path.",
      "models.tool-name.reply": "The tool-name model answers the raw payload together with a canonical block.",
    },
  },
  {
    section: "Resources > Tool",
    by: "service",
    rules: {
      "tool.integration": "A tool names its integration by slug; only a notice entry has null there.",
      "tool.name-null-only-on-notice": "A tool's name is null only on a truncation notice entry.",
      "tool.description": "A tool carries its description as a string.",
      "tool.schema-placeholder-in-pages": "List and search answers carry null or a placeholder as inputSchema.",
      "tool.schema-full-in-describe": "A describe answer carries the complete JSON Schema of the arguments.",
      "tool.canonical":
        "A tool's canonical summary holds integration_id, the action and the state of the default connection.",
      "tool.name-from-slug-and-action": "The tool name is the integration slug, an underscore and the action id.",
    },
  },
  {
    section: "Resources > Tool",
    by: "plugin",
    rules: {
      "tool.unknown-properties-kept": "Additional properties of a tool are accepted and kept.",
      "tool.nullables-accepted": "A tool whose integration, name or inputSchema is null is accepted.",
      "tool.notice-never-called": "The plugin never offers or calls an entry whose name is null.",
      "tool.placeholder-is-not-empty-arguments":
        "The plugin reads the schema from describe and never takes a placeholder schema to mean no arguments.",
    },
  },
  {
    section: "Resources > Execution envelope",
    by: "service",
    rules: {
      "envelope.ok": "Every envelope has the boolean ok.",
      "envelope.result": "A success carries the tool output under result.",
      "envelope.data-alias": "data holds the same value as result.",
      "envelope.failure-names-tool": "A failure carries toolName and integration.",
      "envelope.error-object": "error is null or an object with code, type, message and retryable.",
      "envelope.hint": "A failure that the caller can fix carries one actionable hint.",
      "envelope.details": "details, when present, is an array of strings with additional lines.",
      "envelope.requires-confirmation": "requiresConfirmation is true when the refusal asks for a confirmation.",
      "envelope.canonical-block":
        "canonical repeats the outcome in the summary shape: status succeeded, blocked or failed, error_code, message.",
      "envelope.meta": "The raw payload has a meta object.",
    },
  },
  {
    section: "Resources > Execution envelope",
    by: "plugin",
    rules: {
      "envelope.ok-required-by-plugin": "An answer without a boolean ok is not taken for an envelope.",
      "envelope.nullables-accepted":
        "An envelope whose error is null, or whose optional members are absent, is accepted.",
      "envelope.error-extra-kept": "Extra properties of the error object are accepted and kept.",
      "envelope.data-read-when-result-absent": "A success that carries only data is read like one that carries result.",
      "envelope.unknown-code-passed": "An error code that the document does not list is passed on unchanged.",
    },
  },
  {
    section: "Resources > Execution envelope",
    by: "service",
    rules: {
      "envelope.offload-opt-in":
        "A large output may be replaced by a compact offload envelope, only for clients that opt in.",
    },
  },
  {
    section: "Resources > FileAttachment",
    by: "service",
    rules: {
      "attachment.pointer": "A files entry needs the string pointer.",
      "attachment.name": "A files entry needs the string name.",
      "attachment.mimetype": "A files entry needs the string mimetype.",
      "attachment.md5": "A files entry needs the string md5: the hex digest of the decoded bytes, checked.",
      "attachment.data": "A files entry needs the string dataBase64, valid base64.",
      "attachment.pointer-equals-s3key": "The pointer equals the s3key string of the field that the entry fills.",
    },
  },
  {
    section: "Resources > FileAttachment",
    by: "plugin",
    rules: {
      "attachment.sent-complete": "The plugin sends all five strings, with the md5 of exactly the bytes it encodes.",
    },
  },
  {
    section: "Resources > File-uploadable object",
    by: "service",
    rules: {
      "uploadable.fields": "A file-uploadable object has the strings name, mimetype and s3key, all required.",
      "uploadable.storage-key": "A storage key returned by a prior upload is accepted as s3key and used unchanged.",
      "uploadable.pointer": "A placeholder that matches a files pointer is accepted as s3key.",
      "uploadable.url-or-path-recovered": "A reference sent under url or path instead of s3key is still recovered.",
    },
  },
  {
    section: "Resources > File-uploadable object",
    by: "plugin",
    rules: {
      "uploadable.local-path":
        "With the plugin, a local path under the runtime's media directory is accepted as s3key.",
      "uploadable.local-path-confined": "A local path outside the media directory is refused and nothing is sent.",
      "uploadable.url-passed-through": "The plugin passes a public HTTPS URL on unchanged.",
      "uploadable.storage-key-passed-through": "The plugin passes a storage key on unchanged.",
    },
  },
  {
    section: "Resources > File-uploadable object",
    by: "service",
    rules: {
      "uploadable.public-url": "A public HTTPS URL is accepted as s3key.",
    },
  },
  {
    section: "Resources > Connection",
    by: "both",
    rules: {
      "connection.id-integer-or-string": "A connectionId is an integer or a string; both forms select the connection.",
    },
  },
  {
    section: "Resources > Execution summary",
    by: "plugin",
    rules: {
      "summary.accepted-by-plugin": "The plugin reads an execution summary wherever it arrives, nullables included.",
    },
  },
];
