// Relays of one process that ask each other: the relay's own code, but for TLS and sockets. Messages take one step of simulated time.
import { createHash, randomBytes } from 'node:crypto'
import { PATH, PROTOCOL_VERSION, type RelayDescriptor } from '@svc/protocol'
import { type Hex, recoverTextSigner, signDigest } from '../../relay/src/core/auth/ethereum-signature.ts'
import { createLog } from '../../relay/src/core/log/log.ts'
import type { HttpClient, HttpRequest, HttpResponse } from '../../relay/src/core/outbound/http-client.ts'
import { DescriptorSignatures } from '../../relay/src/features/discovery/descriptor-signatures.ts'
import { RelayDiscovery } from '../../relay/src/features/discovery/discovery.ts'
import { DISCOVERY_LIMITS } from '../../relay/src/features/discovery/limits.ts'
import { OwnDescriptor } from '../../relay/src/features/discovery/own-descriptor.ts'
import { RelayQueries } from '../../relay/src/features/discovery/relay-queries.ts'
import { awaited, elapsedMs, STEP_MS } from './simulated-time.ts'

const log = createLog('silent')
const RELEASE = '0.1.0'
const OCTET = 256
/** A relay that knows 1,000 passes descriptors on until they are so many milliseconds old. */
const LISTED_MS = 240_000

/** Traffic counts what one relay asked, and what it was told. */
export interface Traffic {
  requests: number
  /** The requests whose answer was a whole list. */
  lists: number
  /** The bytes of the bodies, both ways, without HTTP and TLS. */
  bytes: number
  /** The bytes of the longest list. */
  listBytes: number
}

/** A Member is a relay that answers for itself. */
export interface Member {
  origin: string
  address: string
  own: OwnDescriptor
  /** The relay's own discovery. It is undefined for a member that only answers. */
  discovery: RelayDiscovery | undefined
  traffic: Traffic
}

export class Network {
  readonly members: Member[] = []
  readonly #byOrigin = new Map<string, Member>()
  /** True when a member that only answers lists all members. */
  readonly #knowsAll: boolean
  #listed: Promise<RelayDescriptor[]> | undefined
  #listedAt = 0

  constructor({ knowsAll = false }: { knowsAll?: boolean } = {}) {
    this.#knowsAll = knowsAll
  }

  /** Adds a relay that only answers. Each is in a network of its own. */
  add(): Member {
    const index = this.members.length
    const key: Hex = `0x${randomBytes(32).toString('hex')}`
    const { address } = recoverTextSigner('', signDigest(createHash('sha256').digest(), key))!
    const origin = `https://relay-${index}.example.com`
    const identity = { address, signDigest: async (digest: Uint8Array) => signDigest(digest, key) }
    const state = () => ({ udp: true, tcp: true, connections: index, bytes: index })
    const member: Member = {
      origin,
      address: `20.${Math.floor(index / OCTET)}.${index % OCTET}.1`,
      own: new OwnDescriptor(origin, identity, state),
      discovery: undefined,
      traffic: { requests: 0, lists: 0, bytes: 0, listBytes: 0 },
    }
    this.members.push(member)
    this.#byOrigin.set(origin, member)
    return member
  }

  /** Makes a member ask others. */
  discover(member: Member, bootstrap: string, signatures: DescriptorSignatures): RelayDiscovery {
    const bootstraps = new Set([bootstrap])
    const { signal } = new AbortController()
    const client: Pick<HttpClient, 'request'> = {
      request: (url, request) => this.#request(member, new URL(url), request ?? {}),
    }
    member.discovery = new RelayDiscovery({
      own: member.own,
      bootstraps,
      allowsLoopback: false,
      isBanned: () => false,
      signatures,
      recoverSigner: async () => undefined,
      queries: (onIncompatible) => new RelayQueries(client, bootstraps, onIncompatible, signal),
      limits: DISCOVERY_LIMITS,
      signal,
      log,
    })
    return member.discovery
  }

  async #request(from: Member, url: URL, { body: question }: HttpRequest): Promise<HttpResponse> {
    const member = this.#byOrigin.get(url.origin)!
    await new Promise((resolve) => setTimeout(resolve, STEP_MS))
    const isWhole = url.pathname === PATH.discovery && url.search === ''
    const data = await this.#answer(member, url, { isWhole, question, from })
    const body = Buffer.from(JSON.stringify({ ok: true, data }))
    const { traffic } = from
    traffic.requests += 1
    traffic.lists += isWhole ? 1 : 0
    traffic.bytes += body.length + (question?.length ?? 0)
    if (isWhole) traffic.listBytes = Math.max(traffic.listBytes, body.length)
    return { url, address: member.address, status: 200, headers: {}, body }
  }

  async #answer(
    { own, discovery }: Member,
    { pathname }: URL,
    { isWhole, question, from }: { isWhole: boolean; question: HttpRequest['body']; from: Member },
  ): Promise<object> {
    if (pathname === PATH.domain)
      return { protocol_version: PROTOCOL_VERSION, release_version: RELEASE, extensions: [] }
    if (pathname === PATH.announce) {
      const { protocol_version, descriptor } = JSON.parse(`${question}`)
      const accepted = await discovery?.announce(protocol_version, descriptor, from.address)
      return { protocol_version: PROTOCOL_VERSION, accepted: accepted ?? true }
    }
    const current = await own.current()
    if (discovery !== undefined) return discovery.answer(current, isWhole)
    const others = isWhole && this.#knowsAll ? await this.#all() : []
    return {
      protocol_version: PROTOCOL_VERSION,
      generated_at: new Date().toISOString(),
      relays: [current, ...others],
      incompatible_relays: [],
      release_version: RELEASE,
      relay_release_versions: isWhole
        ? Object.fromEntries(this.members.map(({ origin }) => [origin, RELEASE]))
        : {},
    }
  }

  /** Returns the descriptors as other relays have them: from their last polls, not from this moment. */
  #all(): Promise<RelayDescriptor[]> {
    if (this.#listed === undefined || elapsedMs() - this.#listedAt > LISTED_MS) {
      this.#listed = Promise.all(this.members.map(({ own }) => own.current()))
      this.#listedAt = elapsedMs()
    }
    return this.#listed
  }
}

/** Checks signatures, and makes a step of simulated time wait for it. */
export class AwaitedSignatures extends DescriptorSignatures {
  override isGenuine(descriptor: RelayDescriptor): Promise<boolean> {
    return awaited(super.isGenuine(descriptor))
  }
}

/** Checks each signature once for all relays of the process, since all of them together check 4,000 a second. */
export class SharedSignatures extends AwaitedSignatures {
  /** Maps signatures to their checks, which are never forgotten: the process ends soon. */
  readonly #checked = new Map<string, Promise<boolean>>()

  override isGenuine(descriptor: RelayDescriptor): Promise<boolean> {
    const { signature } = descriptor
    const checked = this.#checked.get(signature) ?? super.isGenuine(descriptor)
    this.#checked.set(signature, checked)
    return checked
  }
}
