// Relays that other relays know: `GET /discovery`, each descriptor checked, and the nearest of those that answer.

import { isIP } from 'node:net'
import {
  DESCRIPTOR_SIGNATURE_BYTES,
  descriptorText,
  isPublicAddress,
  PATH,
  PROTOCOL_VERSION,
  type RelayDescriptor,
} from '@svc/protocol'
import {
  type FetchFunction,
  isRecord,
  parseRelay,
  RelayClient,
  requireRecord,
  requireTime,
  SvcError,
  signerOf,
} from '@svc/sdk-core'
import { DESCRIPTORS_MAX, DISCOVERED_PROBES_MAX } from '../limits.ts'
import { probeRelay } from './health.ts'

/** What a relay must be able to do to be of use. */
interface Wanted {
  tcp: boolean
  udp: boolean
}

export interface Discovered {
  found: URL[]
  /** Those that were asked and did not tell. */
  failures: { relay: string; error: SvcError }[]
}

/** At most `max` relays beside those that are `known`, which are asked. */
export async function discover(
  known: readonly URL[],
  max: number,
  wanted: Wanted,
  fetch: FetchFunction,
  signal?: AbortSignal,
): Promise<Discovered> {
  const failures: Discovered['failures'] = []
  const named = await Promise.all(
    known.map((relay) =>
      askForRelays(relay, wanted, fetch, signal).catch((error: SvcError) => {
        failures.push({ relay: relay.origin, error })
        return []
      }),
    ),
  )
  const seen = new Set(known.map(({ origin }) => origin))
  const isNew = ({ origin }: URL): boolean => !seen.has(origin) && seen.add(origin) !== undefined
  return { found: await nearest(named.flat().filter(isNew), max, fetch, signal), failures }
}

/**
 * The relays that `relay` knows and whose descriptors are genuine, unexpired and able to do what is wanted.
 * @throws SvcError when it does not tell
 */
async function askForRelays(
  relay: URL,
  wanted: Wanted,
  fetch: FetchFunction,
  signal?: AbortSignal,
): Promise<URL[]> {
  const client = new RelayClient(relay, fetch)
  const answer = requireRecord(await client.call(PATH.discovery, { signal }), 'discovery')
  if (answer.protocol_version !== PROTOCOL_VERSION || !Array.isArray(answer.relays))
    throw new SvcError('unexpected_answer', "the relay's answer has no valid list of relays")
  // a relay on this machine may name its neighbours; one elsewhere must not send us to our own network
  const isAllowed = (url: URL): boolean => isLocal(relay) || !isLocal(url)
  return answer.relays
    .slice(0, DESCRIPTORS_MAX)
    .filter(isDescriptor)
    .filter(
      (descriptor) =>
        isCurrent(descriptor, client.clock.now) && isGenuine(descriptor) && isAble(descriptor, wanted),
    )
    .map(({ api_https_addr }) => new URL(api_https_addr))
    .filter(isAllowed)
}

/** The `max` nearest of `candidates` that answer and are compatible. */
async function nearest(
  candidates: readonly URL[],
  max: number,
  fetch: FetchFunction,
  signal?: AbortSignal,
): Promise<URL[]> {
  const probes = candidates.slice(0, DISCOVERED_PROBES_MAX).map(async (url) => {
    const { rttMs } = await probeRelay(url, fetch, signal)
    return { url, rttMs }
  })
  const found = (await Promise.allSettled(probes)).flatMap((probe) =>
    probe.status === 'fulfilled' ? [probe.value] : [],
  )
  found.sort((a, b) => a.rttMs - b.rttMs)
  return found.slice(0, max).map(({ url }) => url)
}

/** One that is malformed is passed over: the list is of many relays' making. */
function isDescriptor(value: unknown): value is RelayDescriptor {
  if (!isRecord(value) || typeof value.api_https_addr !== 'string') return false
  try {
    parseRelay(value.api_https_addr)
    requireTime(value, 'issued_at')
    requireTime(value, 'expires_at')
  } catch {
    return false
  }
  return typeof value.address === 'string' && typeof value.signature === 'string'
}

/** @param now by the clock of the relay that named it: ours may be wrong */
function isCurrent({ expires_at }: RelayDescriptor, now: number): boolean {
  return Date.parse(expires_at) > now
}

function isGenuine(descriptor: RelayDescriptor): boolean {
  const signature = Buffer.from(descriptor.signature, 'base64')
  if (signature.length !== DESCRIPTOR_SIGNATURE_BYTES) return false
  const signer = signerOf(descriptorText(descriptor), signature)
  return signer?.toLowerCase() === descriptor.address.toLowerCase()
}

function isAble({ supports_tcp, supports_udp }: RelayDescriptor, { tcp, udp }: Wanted): boolean {
  return (!tcp || supports_tcp === true) && (!udp || supports_udp === true)
}

/** Of a name, only `localhost` is: what another one resolves to is not looked at here. */
function isLocal({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  return isIP(host) === 0 ? /(?:^|\.)localhost\.?$/.test(host) : !isPublicAddress(host)
}
