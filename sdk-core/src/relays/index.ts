// @svc/sdk-core/relays: a site at several relays, for platforms with more features than pages.

export { parseRelays } from '../site/relay-option.ts'
export { openGatewayCarrier } from './gateway-carriers.ts'
export { createGatewayCheck } from './gateway-check.ts'
export { probeRelay } from './health.ts'
export { parseDiscover } from './options.ts'
export type { RelayFailure } from './relay-failures.ts'
export { RelaySites } from './relay-sites.ts'
export { type SearchResult, searchRelays } from './search.ts'
