// Asks a relay whom it knows (`GET /discovery`), and believes only descriptors that the relays in them have signed.

import { type DescriptorVerdict, DISCOVERY_VERSIONS, PATH, type RelayDescriptor } from '@svc/protocol'
import { requireRecord } from '../control/json-checks.ts'
import { type FetchFunction, RelayClient } from '../control/relay-client.ts'
import { SvcError } from '../errors.ts'
import {
  DESCRIPTORS_READ_MAX,
  DISCOVERED_PROBES_MAX,
  LIST_DEADLINE_MS,
  LIST_MAX_BYTES,
  SIGNATURES_CHECKED_MAX,
  SIGNATURES_IN_A_ROW,
} from './limits.ts'
import { isLocal } from './relay-address.ts'
import { shuffled } from './shuffled.ts'

/** The abilities without which a relay is of no use to the site. */
export interface Wanted {
  tcp: boolean
  udp: boolean
}

/** A ListRequest says what a relay is asked for. */
export interface ListRequest {
  wanted: Wanted
  fetch: FetchFunction
  /** Recovers signers: the caller has the code for that at once, and a bundler would split it off if it were imported here. */
  signerOf: SignerOf
  signal?: AbortSignal | undefined
}

/** SignerOf returns the address that signed `text`; undefined when nobody can have. */
export type SignerOf = (text: string, signature: Uint8Array) => string | undefined

/** A ListedRelay is a relay that another one named, as it describes itself. */
export interface ListedRelay {
  url: URL
  descriptor: RelayDescriptor
}

/**
 * Resolves with relays that `relay` knows: a random choice of those that are able to do what is wanted, at most as many as are
 * probed. The descriptors are genuine and have not expired.
 * @throws SvcError when `relay` gives no such answer
 */
export async function askForRelays(
  relay: URL,
  { wanted, fetch, signerOf, signal }: ListRequest,
): Promise<ListedRelay[]> {
  const client = new RelayClient(relay, fetch)
  const options = { signal, deadlineMs: LIST_DEADLINE_MS, maxBytes: LIST_MAX_BYTES }
  const { parseDescriptor, verifyDescriptor } = await import('./descriptors.ts')
  const answer = requireRecord(await client.call(PATH.discovery, options), 'discovery')
  const { protocol_version: version } = answer
  if (typeof version !== 'string' || !DISCOVERY_VERSIONS.includes(version) || !Array.isArray(answer.relays))
    throw new SvcError('unexpected_answer', "the relay's answer has no valid list of relays")
  // A random choice spreads the sites over the relays, and a relay cannot decide by the order which ones are looked at.
  const candidates = shuffled(answer.relays)
    .slice(0, DESCRIPTORS_READ_MAX)
    .flatMap((value) => candidateOf(parseDescriptor(value), relay, wanted))
    .slice(0, SIGNATURES_CHECKED_MAX)
  // The clock is that of the relay that named them: this machine's own may be wrong.
  return await genuine(candidates, (value) => verifyDescriptor(value, client.clock.now, signerOf))
}

/** Returns nothing for what is not worth a check of its signature. */
function candidateOf(descriptor: RelayDescriptor | undefined, relay: URL, wanted: Wanted): ListedRelay[] {
  if (descriptor === undefined || !isAble(descriptor, wanted)) return []
  const url = new URL(descriptor.api_https_addr)
  // A relay on this machine may name its neighbours; one elsewhere must not lead the SDK into its own network.
  return isLocal(url) && !isLocal(relay) ? [] : [{ url, descriptor }]
}

function isAble({ supports_tcp, supports_udp }: RelayDescriptor, { tcp, udp }: Wanted): boolean {
  return (!tcp || supports_tcp) && (!udp || supports_udp)
}

/** Checks signatures until enough are genuine. It pauses now and then, since each keeps a page busy for a millisecond or more. */
async function genuine(
  candidates: readonly ListedRelay[],
  verify: (value: RelayDescriptor) => Promise<DescriptorVerdict>,
): Promise<ListedRelay[]> {
  const found: ListedRelay[] = []
  for (const [index, candidate] of candidates.entries()) {
    if (found.length === DISCOVERED_PROBES_MAX) break
    if (index > 0 && index % SIGNATURES_IN_A_ROW === 0) await new Promise((resolve) => setTimeout(resolve))
    const { descriptor } = await verify(candidate.descriptor)
    if (descriptor !== undefined) found.push(candidate)
  }
  return found
}
