import { createHash, createHmac } from "node:crypto";

/** Who signs, and for which region. */
export interface SigningCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials. */
  readonly sessionToken?: string | undefined;
  readonly region: string;
}

const ALGORITHM = "AWS4-HMAC-SHA256";
const SERVICE = "s3";
/** SHA-256 of nothing, for requests without a body. */
export const EMPTY_SHA256 = createHash("sha256").digest("hex");

/**
 * Headers that sign a request with AWS Signature Version 4, for S3 and what speaks its protocol; they include the given
 * ones. The path of `url` must be encoded already, once.
 *
 * @param sha256 of the body, in hex.
 */
export function signRequest(
  request: { method: string; url: URL; headers?: Readonly<Record<string, string>>; sha256: string; time: number },
  { accessKeyId, secretAccessKey, sessionToken, region }: SigningCredentials,
): Record<string, string> {
  const stamp = new Date(request.time).toISOString().replace(/[-:]|\.\d{3}/g, "");
  const scope = `${stamp.slice(0, 8)}/${region}/${SERVICE}/aws4_request`;
  const headers: Record<string, string> = {
    ...request.headers,
    host: request.url.host,
    "x-amz-content-sha256": request.sha256,
    "x-amz-date": stamp,
    ...(sessionToken !== undefined && { "x-amz-security-token": sessionToken }),
  };
  const names = Object.keys(headers).sort();
  const canonical = [
    request.method,
    request.url.pathname,
    toCanonicalQuery(request.url),
    ...names.map((name) => `${name}:${headers[name]?.trim()}`),
    "",
    names.join(";"),
    request.sha256,
  ].join("\n");
  const text = [ALGORITHM, stamp, scope, createHash("sha256").update(canonical).digest("hex")].join("\n");
  const key = scope.split("/").reduce<Buffer | string>((parent, part) => hmac(parent, part), `AWS4${secretAccessKey}`);
  const signature = hmac(key, text).toString("hex");
  const credential = `${accessKeyId}/${scope}`;
  headers.authorization = `${ALGORITHM} Credential=${credential},SignedHeaders=${names.join(";")},Signature=${signature}`;
  return headers;
}

function toCanonicalQuery(url: URL): string {
  return [...url.searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join("&");
}

/** Percent-encodes all but the unreserved characters of RFC 3986. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
