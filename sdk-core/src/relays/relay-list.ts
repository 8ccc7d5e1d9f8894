// Asks a relay for the relays that it knows (`GET /discovery`), and accepts only descriptors that these relays signed.

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

/** The capabilities that the site needs. */
export interface Wanted {
  tcp: boolean
  udp: boolean
}

/** A ListRequest says what to ask a relay for. */
export interface ListRequest {
  wanted: Wanted
  fetch: FetchFunction
  /** Recovers signers. The caller passes it, because a bundler would put an import here into a chunk of its own. */
  signerOf: SignerOf
  signal?: AbortSignal | undefined
}

/** SignerOf returns the address that signed `text`; undefined when the signature is invalid. */
export type SignerOf = (text: string, signature: Uint8Array) => string | undefined

/** A ListedRelay is a relay that another one named, as it describes itself. */
export interface ListedRelay {
  url: URL
  descriptor: RelayDescriptor
}

/**
 * Resolves with relays that `relay` knows: a random choice of those with the wanted capabilities, at most as many as are
 * probed. The descriptors are genuine and unexpired.
 * @throws SvcError when `relay` does not answer with a list
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
  // A random choice spreads the sites over the relays, and a relay cannot influence it by the order of the list.
  const candidates = shuffled(answer.relays)
    .slice(0, DESCRIPTORS_READ_MAX)
    .flatMap((value) => candidateOf(parseDescriptor(value), relay, wanted))
    .slice(0, SIGNATURES_CHECKED_MAX)
  // Uses the clock of the relay that named them, because this machine's may be wrong.
  return await genuine(candidates, (value) => verifyDescriptor(value, client.clock.now, signerOf))
}

/** Returns an empty list for a relay whose signature need not be checked. */
function candidateOf(descriptor: RelayDescriptor | undefined, relay: URL, wanted: Wanted): ListedRelay[] {
  if (descriptor === undefined || !isAble(descriptor, wanted)) return []
  const url = new URL(descriptor.api_https_addr)
  // A local relay may name local ones; a remote one must not direct the SDK into the local network.
  return isLocal(url) && !isLocal(relay) ? [] : [{ url, descriptor }]
}

function isAble({ supports_tcp, supports_udp }: RelayDescriptor, { tcp, udp }: Wanted): boolean {
  return (!tcp || supports_tcp) && (!udp || supports_udp)
}

/** Checks signatures until enough are genuine. It yields in between, because each keeps a page busy for a millisecond or more. */
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
