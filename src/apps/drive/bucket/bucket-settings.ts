import { z } from "zod";
import { type AllowedHosts, isOwnHost } from "../../../service/fetch/address-rules.ts";
import type { S3Place } from "../../../service/files/files-place.ts";
import { parseFolderPath } from "../../../service/files/folder.ts";
import { refuseSetting } from "../../../service/service-error.ts";
import type { SettingField } from "../../port/integration.ts";

const GROUP = "A bucket (S3) instead";

/** Fields of the connect form. */
export const BUCKET_FIELDS: readonly SettingField[] = [
  {
    name: "s3Bucket",
    label: "Bucket",
    kind: "text",
    optional: true,
    group: GROUP,
    help: "Its name at Amazon, or at any other store that speaks the S3 protocol.",
  },
  {
    name: "s3Endpoint",
    label: "Address of the store",
    kind: "text",
    optional: true,
    group: GROUP,
    help: "For example https://s3.example.org; empty for Amazon.",
  },
  {
    name: "s3Region",
    label: "Region",
    kind: "text",
    optional: true,
    group: GROUP,
    help: "For example eu-central-1; us-east-1 when it is empty, which most other stores take.",
  },
  {
    name: "s3Prefix",
    label: "Folder in the bucket",
    kind: "text",
    optional: true,
    group: GROUP,
    help: "Tools see this folder and everything below it; empty for the whole bucket.",
  },
  { name: "s3AccessKeyId", label: "Access key id", kind: "secret", optional: true, group: GROUP },
  { name: "s3SecretAccessKey", label: "Secret access key", kind: "secret", optional: true, group: GROUP },
];

/** Settings of a drive that is a bucket. */
export interface BucketSettings {
  /** Its prefix is empty or ends in a slash. */
  readonly place: S3Place & { readonly prefix: string };
  /** True for a store of the owner's own network, which may be reached, and without encryption. */
  readonly isPrivate: boolean;
}

const text = z.string().trim();
const key = text.regex(/^[!-~]+$/);
const schema = z.looseObject({
  s3Bucket: text.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/),
  s3Endpoint: text.default(""),
  s3Region: text.regex(/^[A-Za-z0-9-]*$/).default(""),
  s3Prefix: text.default(""),
  s3AccessKeyId: key,
  s3SecretAccessKey: z.string().regex(/^[ -~]+$/),
});

/** True when the settings name a bucket. */
export function isInBucket(settings: Readonly<Record<string, unknown>>): boolean {
  return typeof settings.s3Bucket === "string" && settings.s3Bucket !== "";
}

/** Reads the settings, or throws ServiceError 422 `integration_misconfigured` naming the one that is wrong. */
export function readBucketSettings(
  settings: Readonly<Record<string, unknown>>,
  allowed: AllowedHosts | undefined,
): BucketSettings {
  const parsed = schema.safeParse(settings);
  if (!parsed.success) {
    const setting = String(parsed.error.issues[0]?.path[0] ?? "s3Bucket");
    throw refuseSetting(setting, settings[setting] ? "has a value that cannot be used." : "is needed for a bucket.");
  }
  const { s3Bucket, s3Endpoint, s3Region, s3Prefix, s3AccessKeyId, s3SecretAccessKey } = parsed.data;
  const endpoint = s3Endpoint === "" ? undefined : readEndpoint(s3Endpoint);
  const isPrivate = endpoint !== undefined && isOwnHost(endpoint, allowed);
  if (endpoint?.protocol === "http:" && !isPrivate)
    throw refuseSetting(
      "s3Endpoint",
      `must begin with https://, unless it is on this machine or the service was started with --allow-host ${endpoint.hostname}:${endpoint.port || "80"}.`,
    );
  const keys = { accessKeyId: s3AccessKeyId, secretAccessKey: s3SecretAccessKey };
  const place = { ...keys, bucket: s3Bucket, endpoint: endpoint?.origin, region: s3Region || "us-east-1" };
  return { place: { ...place, prefix: readPrefix(s3Prefix) }, isPrivate };
}

function readEndpoint(typed: string): URL {
  const url = URL.parse(typed);
  const isPlain = url?.pathname === "/" && url.search === "" && url.hash === "" && url.username === "";
  if (url === null || !isPlain || !/^https?:$/.test(url.protocol))
    throw refuseSetting("s3Endpoint", "must be an address without a path, for example https://s3.example.org.");
  return url;
}

function readPrefix(typed: string): string {
  try {
    const parts = parseFolderPath(typed.replace(/^\/+/, ""), "s3Prefix");
    return parts.length === 0 ? "" : `${parts.join("/")}/`;
  } catch (error) {
    throw refuseSetting("s3Prefix", "must be the path of a folder, such as team/reports.", error);
  }
}
