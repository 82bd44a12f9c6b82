import { errorCode } from "../../base/disk.ts";
import { refuseMissing, refuseUnavailable, refuseValue, ServiceError } from "../service-error.ts";

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

/** The place that a failed file operation was about, in the caller's words. */
export interface FolderSubject {
  /** Argument that named the place, e.g. `path`. */
  readonly field: string;
  /** The place as the caller sees it, relative to the connection's folder. */
  readonly path: string;
}

const DISK_REASONS: Readonly<Record<string, string>> = {
  ENOSPC: "its disk is full",
  EDQUOT: "its disk is full (quota)",
  EROFS: "its disk is read-only",
};

/** 503 `file_store_unavailable`, retryable, for a disk of the service itself that takes no more; any other error as it is. */
export function toFileStoreError(error: unknown): unknown {
  const code = errorCode(error) ?? "unknown";
  if (!UNAVAILABLE.has(code)) return error;
  const reason = DISK_REASONS[code] ?? `the place for its files does not take them (${code})`;
  const message = `The service cannot keep files at the moment: ${reason}.`;
  const hint = "Nothing was run. Try again later, or tell the owner of the service.";
  return new ServiceError(503, "file_store_unavailable", message, {
    type: "network",
    retryable: true,
    hint,
    cause: error,
  });
}

/** Explains a failed file operation to the caller; never names a path of this machine. */
export function explainFolderError(error: unknown, subject: FolderSubject): ServiceError {
  if (error instanceof ServiceError) return error;
  const code = errorCode(error) ?? "unknown";
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
