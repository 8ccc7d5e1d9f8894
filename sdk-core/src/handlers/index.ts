// The handlers that both SDKs export as `/handlers`: handlers to publish, and handlers that wrap others.

export { asCurl } from '../inspector/curl-command.ts'
export type {
  Answer,
  Content,
  Entry,
  EntryKind,
  FormPart,
  HttpVersion,
  StreamMessage,
  Times,
} from '../inspector/entry.ts'
export { type InspectOptions, Inspector, inspect } from '../inspector/inspector.ts'
export { replayHar } from '../recording/replay-har.ts'
export type {
  HmacAlgorithm,
  HmacWebhook,
  OneOrMoreSecrets,
  WebhookSecrets,
  WebhookSender,
} from '../webhooks/secrets.ts'
export type { VerdictCode, WebhookVerdict } from '../webhooks/verdict.ts'
export { type VerifyWebhookOptions, verifyWebhook } from '../webhooks/verify-webhook.ts'
export { type AllowRule, allow } from './allow-list.ts'
export {
  type AuthOptions,
  basicAuth,
  bearer,
  type VerifyPassword,
  type VerifyToken,
} from './authentication.ts'
export { type Bundle, type BundledFile, bundled } from './bundled-files.ts'
export { withCookies } from './cookies.ts'
export type {
  CompressingDirectory,
  DirectoryHandle,
  FileCoding,
  ListedEntry,
  ReadableDirectory,
} from './directory-handle.ts'
export type { FileSource } from './file-tree.ts'
export { type FilesOptions, files } from './files.ts'
export type { PaidOptions, PaidRoute } from './paid/options.ts'
export { paid } from './paid/paid.ts'
export { type RelayFacilitatorOptions, relayFacilitator } from './paid/relay-facilitator.ts'
export { type ProxyOptions, proxy } from './proxy.ts'
export type { WalletOptions } from './wallet/options.ts'
export { walletOnly } from './wallet/wallet-only.ts'
