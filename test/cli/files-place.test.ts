import { describe, expect, test } from "vitest";
import { readFilesFlag } from "../../src/cli/commands/serve.ts";

const KEY = { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret" };

describe("svc serve --files", () => {
  test.each([
    ["/srv/files", {}, "/srv/files"],
    [
      "s3://my-bucket/svc/files?region=eu-central-1",
      KEY,
      { bucket: "my-bucket", prefix: "svc/files", region: "eu-central-1", endpoint: undefined },
    ],
    [
      "s3://my-bucket?endpoint=https://minio.example.org:9000",
      { ...KEY, AWS_SESSION_TOKEN: "t" },
      {
        bucket: "my-bucket",
        prefix: "",
        region: "us-east-1",
        endpoint: "https://minio.example.org:9000",
        sessionToken: "t",
      },
    ],
    ["s3://my-bucket", { ...KEY, AWS_REGION: "eu-west-3" }, { bucket: "my-bucket", region: "eu-west-3" }],
  ])("reads %s", (text, env, place) => {
    const read = readFilesFlag(text, env);
    if (typeof place === "string") expect(read).toBe(place);
    else expect(read).toMatchObject({ ...place, accessKeyId: "id", secretAccessKey: "secret" });
  });

  test.each([
    ["s3://", KEY],
    ["s3://my-bucket", {}],
    ["s3://my-bucket", { AWS_ACCESS_KEY_ID: "id" }],
  ])("refuses %s with %j and names the way out", (text, env) => {
    expect(() => readFilesFlag(text, env)).toThrow(
      expect.objectContaining({
        code: "invalid_config",
        field: "--files",
        hint: expect.stringContaining("s3://BUCKET"),
      }),
    );
  });
});
