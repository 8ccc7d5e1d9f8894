// Relays that other relays know: `GET /discovery`, each descriptor checked, and the nearest of those that answer.

import { isIP } from 'node:net'
import {
  isPublicAddress,
  PATH,
  PROTOCOL_VERSION,
  type RelayDescriptor,
  verifyDescriptor,
} from '@svc/protocol'
import { type FetchFunction, RelayClient, requireRecord, SvcError, signerOf } from '@svc/sdk-core'
import { DESCRIPTORS_MAX, DISCOVERED_PROBES_MAX } from '../limits.ts'
import { probeRelay } from './health.ts'

/** The abilities without which a relay is of no use. */
interface Wanted {
  tcp: boolean
  udp: boolean
}

export interface Discovered {
  found: URL[]
  /** The relays that were asked and named no others, with the error of each. */
  failures: { relay: string; error: SvcError }[]
}

/** Asks the `known` relays. @returns at most `max` others */
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
 * @returns the relays that `relay` knows and whose descriptors are genuine, unexpired and able to do what is wanted
 * @throws SvcError when `relay` gives no such answer
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
  const verdicts = await Promise.all(
    // The clock is that of the relay that named them: this process's own may be wrong.
    answer.relays.slice(0, DESCRIPTORS_MAX).map((each) => verifyDescriptor(each, client.clock.now, signerOf)),
  )
  return verdicts
    .flatMap(({ descriptor }) => descriptor ?? [])
    .filter((descriptor) => isAble(descriptor, wanted))
    .map(({ api_https_addr }) => new URL(api_https_addr))
    .filter(isAllowed)
}

/** @returns the `max` nearest of `candidates` that answer and are compatible */
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

function isAble({ supports_tcp, supports_udp }: RelayDescriptor, { tcp, udp }: Wanted): boolean {
  return (!tcp || supports_tcp) && (!udp || supports_udp)
}

/** A name is local when it ends in `localhost`: addresses of other names are not looked up here. */
function isLocal({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  return isIP(host) === 0 ? /(?:^|\.)localhost\.?$/.test(host) : !isPublicAddress(host)
}
