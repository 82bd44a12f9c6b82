import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { deserialize, serialize } from "node:v8";
import { MemorySaver } from "@langchain/langgraph";

/** A checkpointer that is a file: written after every change, read again by the next process. */
export class FileSaver extends MemorySaver {
  readonly #file: string;

  constructor(file: string) {
    super();
    this.#file = file;
    if (!existsSync(file)) return;
    const { storage, writes } = deserialize(readFileSync(file)) as Pick<MemorySaver, "storage" | "writes">;
    this.storage = storage;
    this.writes = writes;
  }

  override async put(...args: Parameters<MemorySaver["put"]>): ReturnType<MemorySaver["put"]> {
    const saved = await super.put(...args);
    this.#write();
    return saved;
  }

  override async putWrites(...args: Parameters<MemorySaver["putWrites"]>): Promise<void> {
    await super.putWrites(...args);
    this.#write();
  }

  #write(): void {
    writeFileSync(this.#file, serialize({ storage: this.storage, writes: this.writes }));
  }
}
