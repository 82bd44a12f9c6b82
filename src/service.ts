export { builtInIntegrations } from "./apps/built-in.ts";
export { type ActionDefinition, defineAction, describeFile } from "./apps/port/define-action.ts";
export type {
  AccessToken,
  Action,
  ActionContext,
  ConnectionView,
  HeldFile,
  Integration,
  PreviewContext,
  PreviewFile,
  SettingField,
  SignInPlan,
  SignInProvider,
} from "./apps/port/integration.ts";
export {
  changeText,
  changeValue,
  checkState,
  type PreviewDraft,
  quoteName,
  refuseChanged,
} from "./apps/port/preview.ts";
export {
  createProviderError,
  type ProviderFailure,
  readRetryAfter,
} from "./apps/port/provider-failure.ts";
export { type KeptWrite, refuseUndo, type UndoPlan, type Verdict } from "./apps/port/undo.ts";
export { createService, type Service } from "./service/create-service.ts";
export { ServiceError, type ServiceErrorOptions } from "./service/service-error.ts";
export type { ServiceOptions } from "./service/service-options.ts";
