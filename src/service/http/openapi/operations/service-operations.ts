import { z } from "zod";
import { INGEST_PATH } from "../../../../wire/file.ts";
import type { Operation } from "../operation.ts";
import { shapes } from "../shapes.ts";
import { bare } from "./answers.ts";

/** File ingest, health, and this document. */
export const serviceOperations: readonly Operation[] = [
  {
    method: "post",
    path: INGEST_PATH,
    summary: "Takes the bytes of one file, raw or as one multipart part, for the token of a hint.",
    tag: "Files",
    access: "ingest",
    parameters: [{ name: "x-file-name", in: "header", description: "Name of a raw file, percent-encoded." }],
    request: { required: true, content: { "application/octet-stream": "binary", "multipart/form-data": "binary" } },
    answers: {
      201: { description: "The file is stored; put its s3key into the call", body: shapes.IngestReceipt },
      400: bare("Empty, or not exactly one file part"),
      401: bare("The token is wrong, expired or spent"),
      413: bare("The file is larger than 25 MB"),
      503: bare("Ingest is not configured on this service"),
    },
  },
  {
    method: "get",
    path: "/health",
    summary: "Tells whether the service can work.",
    tag: "Service",
    access: "anybody",
    answers: {
      200: { description: "It can", body: z.looseObject({ ok: z.literal(true) }) },
      503: bare("The shared database cannot be reached at the moment"),
    },
  },
  {
    method: "get",
    path: "/openapi.json",
    summary: "This document.",
    tag: "Service",
    access: "anybody",
    answers: { 200: { description: "OpenAPI 3.1", body: z.looseObject({ openapi: z.string() }) } },
  },
];
