export { createService, type Service } from "./service/create-service.ts";
export { builtInIntegrations } from "./service/integrations/built-in.ts";
export { type ActionDefinition, defineAction, describeFile } from "./service/integrations/define-action.ts";
export type {
  AccessToken,
  Action,
  ActionContext,
  ConnectionView,
  HeldFile,
  Integration,
  SettingField,
  SignInPlan,
  SignInProvider,
} from "./service/integrations/integration.ts";
export {
  createProviderError,
  type ProviderFailure,
  readRetryAfter,
} from "./service/integrations/provider-failure.ts";
export { ServiceError, type ServiceErrorOptions } from "./service/service-error.ts";
export type { ServiceOptions } from "./service/service-options.ts";
