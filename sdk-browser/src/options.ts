// The options of `publish`, checked once: everything behind this file may rely on them.

import { LEASE_TTL_DEFAULT_S, LEASE_TTL_MAX_S, type LeaseMetadata, normalizeName } from '@svc/protocol'
import type { DebugEvent } from './debug.ts'
import { SvcError } from './errors.ts'
import type { FetchHandler } from './http/connection.ts'
import type { TlsOptions } from './tenant/server.ts'

export interface PublishOptions {
  /** The relay's address, `https://…`. */
  relay: string | URL
  /** The site's name: one DNS label of at most 22 characters. */
  name: string
  /** Answers the requests of visitors. */
  fetch: FetchHandler
  /** A secp256k1 private key, 32 bytes. By default one is created once and kept. */
  identity?: Uint8Array | undefined
  /** Publish under the canonical hostname only, when another identity owns the name. Default: an error. */
  allowCanonicalFallback?: boolean | undefined
  /** Shown on the relay's page; `hide` keeps the site off it. */
  metadata?: LeaseMetadata | undefined
  /** How long the site outlives its page without a word, in seconds: 1 to 600, by default 120. */
  ttl?: number | undefined
  /** Closes the site. */
  signal?: AbortSignal | undefined
  /** Is told what happens: for logs and dashboards. No event holds a secret or a visitor's data. */
  debug?: ((event: DebugEvent) => void) | undefined
  /** Towards visitors. */
  tls?: TlsOptions | undefined
  /**
   * Offer visitors HTTP/2, where its code can be loaded, which a service worker cannot, and where the relay has a
   * certificate for this site alone: browsers share a connection among all hosts of a certificate. Default: true.
   */
  http2?: boolean | undefined
}

export interface SiteOptions {
  relay: URL
  name: string
  fetch: FetchHandler
  identity: Uint8Array | undefined
  allowCanonicalFallback: boolean
  metadata: LeaseMetadata | undefined
  ttlS: number
  signal: AbortSignal | undefined
  debug: ((event: DebugEvent) => void) | undefined
  tls: TlsOptions
  http2: boolean
}

/** @throws SvcError `invalid_option` that says which option and why */
export function parseOptions(options: PublishOptions): SiteOptions {
  return {
    relay: parseRelay(options.relay),
    name: parseName(options.name),
    fetch: parseFunction('fetch', options.fetch),
    identity: options.identity,
    allowCanonicalFallback: options.allowCanonicalFallback ?? false,
    metadata: options.metadata,
    ttlS: parseTtl(options.ttl),
    signal: options.signal,
    debug: options.debug && parseFunction('debug', options.debug),
    tls: parseTls(options.tls),
    http2: options.http2 ?? true,
  }
}

/** @throws SvcError `invalid_option` */
export function parseRelay(relay: string | URL): URL {
  const url = URL.parse(relay)
  if (url === null) throw invalid(`relay ${JSON.stringify(relay)} is not a URL`)
  if (url.protocol !== 'https:') throw invalid(`relay must be an https: URL, not ${url.protocol}`)
  if (url.username !== '' || url.password !== '') throw invalid('relay must not carry credentials')
  return url
}

function parseName(name: string): string {
  const label = typeof name === 'string' ? normalizeName(name) : undefined
  if (label === undefined)
    throw invalid('name must be one DNS label: 1 to 22 letters, digits and inner hyphens')
  return label
}

function parseFunction<T>(name: string, value: T): T {
  if (typeof value !== 'function') throw invalid(`${name} must be a function`)
  return value
}

function parseTls(tls: TlsOptions = {}): TlsOptions {
  const { minVersion = 'TLSv1.3' } = tls
  if (minVersion !== 'TLSv1.3' && minVersion !== 'TLSv1.2')
    throw invalid(`tls.minVersion must be TLSv1.3 or TLSv1.2, not ${String(minVersion)}`)
  return tls
}

function parseTtl(ttl: number = LEASE_TTL_DEFAULT_S): number {
  if (!Number.isInteger(ttl) || ttl < 1 || ttl > LEASE_TTL_MAX_S)
    throw invalid(`ttl must be a whole number of seconds from 1 to ${LEASE_TTL_MAX_S}`)
  return ttl
}

function invalid(message: string): SvcError {
  return new SvcError('invalid_option', message)
}
