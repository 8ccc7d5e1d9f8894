// Starts discovery: this relay's descriptor, the known relays with their file, and the polls of others.

import type { KeyObject } from 'node:crypto'
import type { LookupFunction } from 'node:net'
import type {
  DiscoveryAnnouncement,
  DiscoveryAnnounceResponse,
  DiscoveryResponse,
  ErrorCode,
} from '@svc/protocol'
import type { RelayIdentity } from '../../core/auth/relay-identity.ts'
import { SignerRecovery } from '../../core/auth/signer-recovery.ts'
import { networkOf } from '../../core/client-address/ip-address.ts'
import { now } from '../../core/clock.ts'
import { isLocalhost } from '../../core/config/settings.ts'
import { RelayError } from '../../core/errors.ts'
import type { Logger } from '../../core/log/log.ts'
import type { Measured } from '../../core/metrics/metrics.ts'
import { HttpClient } from '../../core/outbound/http-client.ts'
import { createNameLookup } from '../../core/outbound/name-lookup.ts'
import type { WriteHealth } from '../../core/storage/write-health.ts'
import { isPublicOrigin, readDescriptor } from './descriptor-rules.ts'
import { DescriptorSignatures } from './descriptor-signatures.ts'
import { RelayDiscovery, type RelayDiscoveryParts } from './discovery.ts'
import type { KnownRelay } from './known-relays.ts'
import { DISCOVERY_LIMITS } from './limits.ts'
import { type DiscoveryReadings, registerDiscoveryMetrics } from './metrics.ts'
import { OwnDescriptor, type OwnState } from './own-descriptor.ts'
import { type Refusal, RelayRefused } from './refusals.ts'
import { type AskOverlay, RelayQueries } from './relay-queries.ts'
import { RelaysFile, restoreRelays } from './relays-file.ts'
import type { DiscoverySettings } from './settings.ts'
import type { SiteSearch } from './site-search.ts'

export interface DiscoveryParts {
  settings: DiscoverySettings
  /** Origin of the relay's URL. */
  origin: string
  identity: Pick<RelayIdentity, 'address' | 'signDigest'>
  /** State directory. */
  directory: string
  /** Returns the statements of the relay about itself. */
  ownState: () => OwnState
  policy: { isRelayBanned(address: string, origin: string): boolean; onChange(listener: () => void): void }
  health: WriteHealth
  log: Logger
  /** Certificates, as PEM, that are trusted in place of Node's own. */
  ca?: string
  /** Name resolution, in the form of `dns.lookup`. @default queries to the system's name servers */
  lookup?: LookupFunction
}

export interface Discovery extends Measured {
  /** The answer to `GET /discovery`. @param isWhole false: with this relay only */
  prepare(): Promise<(isWhole: boolean) => DiscoveryResponse>
  /**
   * Takes an announcement.
   * @param source normalized address of the client
   * @throws RelayError when the descriptor is refused
   */
  announce(announcement: DiscoveryAnnouncement, source: string): Promise<DiscoveryAnnounceResponse>
  /** The other relays that are passed on: verified, not expired, and answering. */
  relays: CurrentRelays
  /** The relays that may be peers of the overlay: the same, and those that answer only over the overlay. */
  peers: CurrentRelays
  /** From now on, relays whose public address does not answer are asked over the overlay. */
  useOverlay(ask: AskOverlay): void
  /** Finds a relay that has a site. */
  sites: Pick<SiteSearch, 'find'>
  /** Figures of this moment. */
  readings(): DiscoveryReadings
  /**
   * Starts to ask other relays, and announces this one: called when it listens and has a certificate, by which they
   * authenticate it.
   */
  start(): void
  close(): Promise<void>
}

interface CurrentRelays {
  [Symbol.iterator](): Iterator<KnownRelay>
  at(origin: string): KnownRelay | undefined
  /** @param address lower case with `0x` */
  of(address: string): KnownRelay | undefined
  /** The public key of the relay's identity; undefined when its descriptor is not genuine. */
  keyOf(relay: Pick<KnownRelay, 'descriptor'>): Promise<KeyObject | undefined>
}

/** @throws SettingsError when the file of known relays cannot be read, StateFileError when a damaged one cannot be set aside */
export async function startDiscovery(parts: DiscoveryParts): Promise<Discovery> {
  const { settings, identity, policy, log } = parts
  const { allowsLoopback } = settings
  const limits = { ...DISCOVERY_LIMITS, ...settings.limits }
  if (allowsLoopback)
    log.warn('DISCOVERY_ALLOW_LOOPBACK_FOR_TESTS is on: strangers can make this relay ask any address')
  const closing = new AbortController()
  const recovery = new SignerRecovery()
  const signatures = new DescriptorSignatures((...signed) => recovery.recoverTextSigner(...signed))
  const own = new OwnDescriptor(parts.origin, identity, parts.ownState)
  const bootstraps = new Set(settings.bootstraps)
  const discovery = new RelayDiscovery({
    own,
    bootstraps,
    allowsLoopback,
    isBanned: (...relay) => policy.isRelayBanned(...relay),
    signatures,
    recoverSigner: (...signed) => recovery.recover(...signed),
    queries: (...rules) => queriesFor(parts, closing.signal, ...rules),
    limits,
    signal: closing.signal,
    log,
  })
  const { relays } = discovery
  await restoreInto(relays, parts)
  const file = new RelaysFile({ ...parts, relays })
  policy.onChange(() => relays.sweep(now()))
  const readings: Discovery['readings'] = () => ({
    known: relays.size,
    current: [...relays.current(now())].length,
    waiting: discovery.waiting,
    refusals: discovery.refusals,
  })
  return {
    prepare: async () => {
      const descriptor = await own.current()
      return (isWhole) => discovery.answer(descriptor, isWhole)
    },
    announce: async ({ protocol_version, descriptor }, source) => ({
      protocol_version: `${(await own.current()).version}`,
      accepted: await discovery.announce(protocol_version, descriptor, networkOf(source)).catch(asRelayError),
    }),
    ...directoriesOf(relays, signatures),
    useOverlay: (ask) => discovery.useOverlay(ask),
    sites: discovery.sites,
    readings,
    metrics: (metrics) => registerDiscoveryMetrics(metrics, readings),
    start: () => {
      if (!closing.signal.aborted) discovery.start()
    },
    close: async () => {
      closing.abort()
      discovery.close()
      await Promise.all([file.close(), recovery.close()])
    },
  }
}

async function restoreInto(relays: RelayDiscovery['relays'], parts: DiscoveryParts): Promise<void> {
  const { allowsLoopback } = parts.settings
  const restore: Parameters<typeof restoreRelays>[1] = ({ descriptor, ...seen }) => {
    const read = readDescriptor(descriptor, true)
    // The setting may have allowed this relay when the file was written, so the file is not damaged.
    if (allowsLoopback || isPublicOrigin(read.origin)) relays.restore(read, seen, now())
  }
  await restoreRelays(parts.directory, restore, parts.log)
}

/** The current relays, and those that may be peers. */
function directoriesOf(
  relays: RelayDiscovery['relays'],
  signatures: DescriptorSignatures,
): Pick<Discovery, 'relays' | 'peers'> {
  const keyOf: CurrentRelays['keyOf'] = ({ descriptor }) => signatures.keyOf(descriptor)
  return {
    relays: {
      [Symbol.iterator]: () => relays.current(now()),
      at: (origin) => relays.currentAt(origin, now()),
      of: (address) => relays.currentOf(address, now()),
      keyOf,
    },
    peers: {
      [Symbol.iterator]: () => relays.peers(now()),
      at: (origin) => relays.peerAt(origin, now()),
      of: (address) => relays.peerOf(address, now()),
      keyOf,
    },
  }
}

function queriesFor(
  parts: DiscoveryParts,
  signal: AbortSignal,
  ...[onIncompatible, mayAsk]: Parameters<RelayDiscoveryParts['queries']>
): RelayQueries {
  const { bootstraps, limits } = parts.settings
  const client = clientFor(parts, signal)
  const deadlineMs = limits?.queryMs ?? DISCOVERY_LIMITS.queryMs
  return new RelayQueries(client, new Set(bootstraps), onIncompatible, signal, mayAsk, deadlineMs)
}

function clientFor({ settings, ca, lookup }: DiscoveryParts, signal: AbortSignal): HttpClient {
  const hosts = new Set(settings.bootstraps.map((origin) => new URL(origin).hostname))
  const isOfSystem = (hostname: string): boolean => hosts.has(hostname) || isLocalhost(hostname)
  return new HttpClient({
    configuredOrigins: settings.bootstraps,
    lookup: lookup ?? createNameLookup({ isOfSystem, signal }),
    ...(ca !== undefined && { ca }),
    ...(settings.allowsLoopback && { isAllowedAddress: () => true }),
  })
}

/** The answers to the announcing relay, by reason. */
const ANSWERS: Partial<Record<Refusal, [ErrorCode, string]>> = {
  malformed: ['invalid_request', 'the descriptor is malformed'],
  expired: ['invalid_request', 'the descriptor has expired'],
  future: ['invalid_request', 'the descriptor is dated in the future: check your clock'],
  too_long: ['invalid_request', 'the descriptor is valid for too long'],
  not_public: ['invalid_request', 'api_https_addr is not a public address'],
  own: ['invalid_request', 'the descriptor is that of this relay'],
  rolled_back: ['invalid_request', 'a newer descriptor of this address is known'],
  forged: ['unauthorized', 'the descriptor is not signed by its address'],
  banned: ['unauthorized', 'the operator of this relay banned that relay'],
  other_address: ['unauthorized', 'that origin belongs to another address'],
}

function asRelayError(error: unknown): never {
  if (!(error instanceof RelayRefused)) throw error
  const [code, message] = ANSWERS[error.reason] ?? ['invalid_request', 'the descriptor was not accepted']
  throw new RelayError(code, message)
}
