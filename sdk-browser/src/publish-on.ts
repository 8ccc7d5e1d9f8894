// `publish` on any platform, for SDKs of other runtimes: the subpath `@svc/sdk-browser/platform`.

import { abortError } from './errors.ts'
import { identityFromKey } from './identity/key.ts'
import { type PublishOptions, parseOptions } from './options.ts'
import { followPage } from './page-life.ts'
import type { DatagramStats, Platform } from './platform.ts'
import { PublishedSite } from './published-site.ts'
import type { Site } from './site.ts'

export type { ByteStream } from './byte-stream.ts'
export { Backoff } from './carrier/backoff.ts'
export type { CarrierEvents, CarrierStats } from './carrier/carrier.ts'
export type { Traffic } from './carrier/link.ts'
export { ReadyStreams } from './carrier/ready-streams.ts'
export { type Activation, type ReadyStream, readyStream } from './carrier/reverse-stream.ts'
export { untilOnline } from './carrier/until-online.ts'
export { type FetchFunction, failureOf, parseRetryAfter, RelayClient } from './control/client.ts'
export { isRecord, record, text, time } from './control/shape.ts'
export { abortError, asSvcError, isRelayCode, SvcError } from './errors.ts'
export { endToEnd, withoutClaims } from './handlers/end-to-end.ts'
export { isHidden } from './handlers/hidden.ts'
export { createPrivateKey, identityFromKey, signerOf } from './identity/key.ts'
export { TIDY_INTERVAL_MS } from './limits.ts'
export { parseRelay } from './options.ts'
export type {
  DatagramCarrier,
  DatagramEvents,
  DatagramStats,
  OpenCarrier,
  OpenDatagrams,
  Platform,
  ServeStream,
  SiteCarrier,
} from './platform.ts'
export type { Admit, SecureStream } from './tenant/connection.ts'
export type { Waiting, WaitingReason } from './waiting.ts'

/** What a site is beside what a page can ask for. */
export interface PlatformSite extends Site {
  /** `host:port` of the dedicated TCP port, when the platform serves one. */
  readonly tcpAddress: string | undefined
  /** The same of the UDP port. */
  readonly udpAddress: string | undefined
  /** Of the datagrams there, when the platform serves them. */
  datagramStats(): DatagramStats | undefined
}

export async function publishOn(platform: Platform, options: PublishOptions): Promise<PlatformSite> {
  const parsed = parseOptions(options)
  const { signal } = parsed
  const { identity: given } = parsed
  const identity = identityFromKey(
    given === undefined || typeof given === 'string' ? await platform.loadIdentity(given) : given,
  )
  if (signal?.aborted) throw abortError(signal)
  const site = new PublishedSite(platform, parsed, identity)
  const close = (): void => {
    site.close()
  }
  signal?.addEventListener('abort', close, { once: true, signal: site.gone })
  parsed.onSite?.(site as PlatformSite)
  followPage(site, site.gone)
  await site.start()
  return site as PlatformSite
}
