export { createService, type Service } from "./service/create-service.ts";
export type { ServiceOptions } from "./service/service-options.ts";
