import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { EMPTY_SHA256, signRequest } from "../../../src/service/files/sign-request.ts";

/** The published examples of "Signature Calculations for the Authorization Header" in the Amazon S3 API Reference. */
const CREDENTIALS = {
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  region: "us-east-1",
};
const ORIGIN = "https://examplebucket.s3.amazonaws.com";
const TIME = Date.UTC(2013, 4, 24);
const TEXT = "Welcome to Amazon S3.";

it.each([
  [
    "GET with a range",
    { method: "GET", path: "/test.txt", headers: { range: "bytes=0-9" } },
    "host;range;x-amz-content-sha256;x-amz-date",
    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  ],
  [
    "PUT of a text",
    {
      method: "PUT",
      path: "/test%24file.text",
      headers: { date: "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY" },
      sha256: createHash("sha256").update(TEXT).digest("hex"),
    },
    "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
    "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
  ],
  [
    "a query without a value",
    { method: "GET", path: "/?lifecycle" },
    "host;x-amz-content-sha256;x-amz-date",
    "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
  ],
  [
    "a listing",
    { method: "GET", path: "/?max-keys=2&prefix=J" },
    "host;x-amz-content-sha256;x-amz-date",
    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  ],
])(
  "signs %s as Amazon shows it",
  (_what, { method, path, headers, sha256 = EMPTY_SHA256 }: Example, signed, signature) => {
    const url = new URL(ORIGIN + path);
    const request = { method, url, ...(headers && { headers }), sha256, time: TIME };
    expect(signRequest(request, CREDENTIALS).authorization).toBe(
      `AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=${signed},Signature=${signature}`,
    );
  },
);

interface Example {
  readonly method: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly sha256?: string;
}
