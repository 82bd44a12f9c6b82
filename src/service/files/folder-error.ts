import { ServiceError } from "../service-error.ts";

/** Conditions of the disk that pass or that a human repairs without touching the request. */
const UNAVAILABLE = new Set([
  "ENOSPC",
  "EDQUOT",
  "EIO",
  "EROFS",
  "EBUSY",
  "ESTALE",
  "EMFILE",
  "ENFILE",
  "ETIMEDOUT",
  "ENODEV",
  "ENXIO",
]);

/** What was being done when a file operation failed, in the caller's words. */
export interface FolderSubject {
  /** Argument that named the place, e.g. `path`. */
  readonly field: string;
  /** The place as the caller sees it, relative to the connection's folder. */
  readonly path: string;
}

/** 400 `invalid_field_value`: the argument at `field` cannot be used. */
export function refuseValue(field: string, message: string, hint?: string): ServiceError {
  return new ServiceError(400, "invalid_field_value", `arguments.${field} ${message}`, {
    type: "validation",
    extra: { invalidFields: [`arguments.${field}`] },
    ...(hint === undefined ? {} : { hint }),
  });
}

/** 404 `not_found`, type `provider`: the tool exists, the thing it was asked about does not. */
export function refuseMissing(what: string, hint: string): ServiceError {
  return new ServiceError(404, "not_found", what, { type: "provider", hint });
}

/** 503 `provider_unavailable`, retryable: the folder is not there or the disk does not work at the moment. */
export function refuseUnavailable(message: string, hint: string, cause?: unknown): ServiceError {
  return new ServiceError(503, "provider_unavailable", message, { type: "network", retryable: true, hint, cause });
}

/** 422 `integration_misconfigured`: the connection's settings must change before this can work. */
export function refuseSetting(setting: string, message: string, cause?: unknown): ServiceError {
  return new ServiceError(422, "integration_misconfigured", `Setting "${setting}" ${message}`, {
    type: "configuration",
    hint: `Correct the setting "${setting}" of this connection in the dashboard.`,
    extra: { setting },
    cause,
  });
}

/** 503 `file_store_unavailable`, retryable, for a disk of the service itself that takes no more; any other error as it is. */
export function toFileStoreError(error: unknown): unknown {
  const code = codeOf(error);
  if (!UNAVAILABLE.has(code)) return error;
  const message = `The service cannot keep files at the moment (${code}); the place for its files does not take them.`;
  const hint = "Nothing was run. Try again later, or tell whoever runs the service.";
  return new ServiceError(503, "file_store_unavailable", message, {
    type: "network",
    retryable: true,
    hint,
    cause: error,
  });
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "unknown";
}

/** Turns a failed file operation into what the caller should do about it; never names a path of this machine. */
export function explainFolderError(error: unknown, subject: FolderSubject): ServiceError {
  if (error instanceof ServiceError) return error;
  const code = codeOf(error);
  const quoted = `"${subject.path}"`;
  if (code === "ENOENT")
    return refuseMissing(`There is no ${quoted} in this connection's folder.`, "List the folder to see what is there.");
  if (code === "ENOTDIR" || code === "ELOOP")
    return refuseValue(
      subject.field,
      `passes through something that is not a folder: ${quoted}.`,
      "Symbolic links are not followed.",
    );
  if (code === "EEXIST" || code === "ENOTEMPTY")
    return refuseValue(subject.field, `already exists: ${quoted}.`, "Choose another name.");
  if (code === "EINVAL") return refuseValue(subject.field, `lies inside the folder that is to be moved: ${quoted}.`);
  if (code === "EFBIG") return refuseValue(subject.field, `is too large to be read: ${quoted}.`);
  if (code === "EISDIR") return refuseValue(subject.field, `is a folder, not a file: ${quoted}.`);
  if (code === "ENAMETOOLONG") return refuseValue(subject.field, `is longer than this disk allows: ${quoted}.`);
  if (code === "EXDEV")
    return refuseValue(subject.field, `lies on another disk: ${quoted}.`, "Copy and delete instead of moving.");
  if (UNAVAILABLE.has(code))
    return refuseUnavailable(
      `The disk behind this connection does not work at the moment (${code}).`,
      code === "ENOSPC" || code === "EDQUOT"
        ? "Free some space, then repeat the call."
        : "Check the disk, then repeat the call.",
      error,
    );
  if (code === "EACCES" || code === "EPERM")
    return new ServiceError(422, "integration_misconfigured", `The service may not touch ${quoted} (${code}).`, {
      type: "configuration",
      hint: "Give the user that runs the service access to the connection's folder.",
      cause: error,
    });
  return new ServiceError(500, "provider_error", `The operation on ${quoted} failed unexpectedly (${code}).`, {
    type: "provider",
    cause: error,
  });
}
