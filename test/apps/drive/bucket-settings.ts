import type { S3Place } from "../../../src/service/files/files-place.ts";

/** Settings of a drive in a folder of a bucket. */
export function toBucketSettings(place: S3Place, prefix?: string): Record<string, unknown> {
  return {
    s3Bucket: place.bucket,
    s3Endpoint: place.endpoint,
    s3Region: place.region,
    ...(prefix === undefined ? {} : { s3Prefix: prefix }),
    s3AccessKeyId: place.accessKeyId,
    s3SecretAccessKey: place.secretAccessKey,
  };
}
