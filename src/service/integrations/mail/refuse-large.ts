import { ServiceError } from "../../service-error.ts";
import { MAX_MESSAGE_BYTES } from "./mail-box.ts";

/** 413 `message_too_large`: a message of more than {@link MAX_MESSAGE_BYTES} is not read. `size` in bytes. */
export function refuseLarge(id: string, size: number): ServiceError {
  const limit = `${MAX_MESSAGE_BYTES / 1024 / 1024} MB`;
  return new ServiceError(
    413,
    "message_too_large",
    `The message "${id}" has ${size} bytes; at most ${limit} are read.`,
    { type: "provider", hint: "Open it with a mail program." },
  );
}
