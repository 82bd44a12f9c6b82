import { describeAdapters } from "./adapter-contract.ts";
import { ADAPTERS } from "./adapters.ts";

describeAdapters(ADAPTERS.slice(0, 1));
