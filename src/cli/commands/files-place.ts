import { SvcError } from "../../errors.ts";
import type { ServiceOptions } from "../../service/service-options.ts";

type FilesPlace = NonNullable<ServiceOptions["files"]>;

/**
 * Reads `--files`: a folder, or `s3://BUCKET/PREFIX?region=REGION&endpoint=URL` with the key in `AWS_ACCESS_KEY_ID`,
 * `AWS_SECRET_ACCESS_KEY` and, for temporary ones, `AWS_SESSION_TOKEN`; the region may come from `AWS_REGION`.
 *
 * @throws SvcError `invalid_config`, field `--files`.
 */
export function readFilesFlag(text: string, env: NodeJS.ProcessEnv): FilesPlace {
  if (!/^s3:\/\//i.test(text)) return text;
  const url = URL.parse(text);
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (url === null || url.hostname === "") throw refuse("--files names no bucket.");
  if (!accessKeyId || !secretAccessKey) throw refuse("--files names a bucket, but no key for it is set.");
  return {
    bucket: url.hostname,
    prefix: url.pathname.slice(1),
    endpoint: url.searchParams.get("endpoint") ?? undefined,
    region: url.searchParams.get("region") ?? (env.AWS_REGION || "us-east-1"),
    accessKeyId,
    secretAccessKey,
    sessionToken: env.AWS_SESSION_TOKEN || undefined,
  };
}

function refuse(message: string): SvcError {
  return new SvcError("invalid_config", message, {
    field: "--files",
    hint: "Use s3://BUCKET/PREFIX?region=REGION with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY set, or a folder.",
  });
}
