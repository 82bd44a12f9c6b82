import type { RuleGroup } from "./rule.ts";

/** "File ingest" and "File rules". */
export const fileRules: readonly RuleGroup[] = [
  {
    section: "Endpoints > File ingest",
    by: "service",
    rules: {
      "ingest.upload": "POST /api/files/ingest takes local bytes and yields a storage key.",
      "ingest.key-is-usable": "The storage key from an ingest completes the call that missed the bytes.",
      "ingest.token-in-hint": "The token is minted inside the hint of a missing_file_bytes error.",
      "ingest.token-required": "An ingest without a valid token is refused, an API key is no substitute.",
      "ingest.token-single-use": "A token is accepted once.",
      "ingest.token-short-lived": "A token that is past its time is refused.",
      "ingest.no-secret": "Without a configured ingest secret the endpoint answers 503.",
      "ingest.no-secret-base64-works": "Without a configured ingest secret the files envelope still works.",
    },
  },
  {
    section: "Endpoints > File ingest",
    by: "plugin",
    rules: {
      "ingest.client": "The plugin uploads by the instruction of the hint and retries with the storage key.",
      "ingest.client-sends-no-key": "The plugin never sends the API key to the ingest endpoint.",
    },
  },
  {
    section: "Endpoints > File rules",
    by: "service",
    rules: {
      "files.envelope-matches-pointer":
        "File rule 6: files[].pointer is matched with the s3key of the argument field, before the provider is called.",
      "files.placeholder-is-free": "File rule 6: any string may serve as the placeholder.",
      "files.provider-gets-bytes": "File rule 6: the provider receives exactly the bytes that were sent.",
      "files.entry-needs-five-strings": "File rule 7: an entry that lacks one of the five strings is refused.",
      "files.missing-bytes": "File rule 8: a local path the service cannot read fails with missing_file_bytes.",
      "files.missing-bytes-hint":
        "File rule 8: the hint of missing_file_bytes holds a ready-to-run upload command for the ingest endpoint.",
    },
  },
  {
    section: "Endpoints > File rules",
    by: "plugin",
    rules: {
      "files.plugin-builds-envelope":
        "File rule 6: the plugin sends local bytes as a files entry whose pointer equals the field's s3key.",
      "files.plugin-recovers-missing-bytes": "File rule 8: the plugin answers missing_file_bytes by itself, once.",
      "files.plugin-runs-no-command": "File rule 8: the plugin reads the hint's command and never runs a shell.",
    },
  },
  {
    section: "Endpoints > File rules",
    by: "service",
    rules: {
      "files.url-accepted": "File rule 1: a URL field and a file-uploadable object accept a public HTTPS URL.",
      "files.url-rehosted": "File rule 1: the service fetches the URL and re-hosts the bytes.",
      "files.url-raw-bytes": "File rule 2: the URL serves raw bytes without a login; an HTML page is not a file.",
      "files.url-share-links": "File rule 3: share links of common file hosts are rewritten to direct downloads.",
      "files.url-query-kept": "File rule 3: URLs with a query string or signature work as they are.",
      "files.url-private-refused": "File rule 4: loopback, private and LAN addresses are rejected.",
      "files.url-preview-image": "File rule 5: an HTML answer gets one try for og:image or twitter:image.",
      "files.url-not-a-file": "File rule 5: when that fails too, the action fails with media_url_not_a_file.",
    },
  },
];
