// Webhooks: who sent one, and whether its signature fits a secret that stays here.

export { networkKey, Room } from './room.ts'
export { SAMPLES, type Sample } from './samples.ts'
export { parseSecrets, type WebhookSecrets } from './secrets.ts'
export { publicKeyOf, signedHeaders } from './sign.ts'
export type { WebhookVerdict } from './verdict.ts'
export { WebhookVerifier } from './verifier.ts'
export { type Watching, watchWebhooks } from './watching.ts'
