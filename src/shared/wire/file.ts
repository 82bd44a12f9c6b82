import { z } from "zod";

/** "FileAttachment": all five strings are required and not blank. */
export const fileAttachmentSchema = z.looseObject({
  pointer: z.string().min(1),
  name: z.string().min(1),
  mimetype: z.string().min(1),
  md5: z.string().min(1),
  dataBase64: z.string().min(1),
});
export type FileAttachment = z.infer<typeof fileAttachmentSchema>;

/** "File-uploadable object". A reference sent under `url` or `path` is recovered by the service. */
export const fileUploadableSchema = z.looseObject({
  name: z.string(),
  mimetype: z.string(),
  s3key: z.string(),
});
export type FileUploadable = z.infer<typeof fileUploadableSchema>;

/** Answer of `POST /api/files/ingest`; its shape is our choice, so only `s3key` is required on input. */
export const ingestReplySchema = z.looseObject({
  s3key: z.string().min(1),
  name: z.string().optional(),
  mimetype: z.string().optional(),
  size: z.int().optional(),
  md5: z.string().optional(),
});
export type IngestReply = z.infer<typeof ingestReplySchema>;

/** JSON Schema keyword that marks a file-uploadable field. */
export const FILE_UPLOADABLE_KEYWORD = "file_uploadable";

/** Path of the ingest endpoint below the base URL. */
export const INGEST_PATH = "/api/files/ingest";
