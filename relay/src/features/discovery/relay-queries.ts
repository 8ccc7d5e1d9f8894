// Asks another relay what it is and which relays it knows, and announces this one to it.

import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import {
  DISCOVERY_VERSIONS,
  type DiscoveryAnnouncement,
  isVersion,
  ONLY_OWN_DESCRIPTOR,
  PATH,
  PROTOCOL_VERSION,
  siteQuestionText,
} from '@svc/protocol'
import type { HttpClient, HttpRequest, HttpResponse } from '../../core/outbound/http-client.ts'
import {
  ANSWER_MAX_BYTES,
  ANSWER_MAX_VALUES,
  DISCOVERY_LIMITS,
  LIST_MAX_BYTES,
  RELAYS_MAX,
  RELEASE_MAX_CHARS,
  SITE_ANSWER_MAX_BYTES,
  SITE_QUESTION_DEADLINE_MS,
  VERSION_MAX_CHARS,
} from './limits.ts'
import { relayNetworkOf } from './networks.ts'
import { RelayRefused } from './refusals.ts'

/** The list of known relays that a relay answers with. */
export interface RelayList {
  /** Descriptors as received. */
  relays: unknown[]
  /** The release of the relay that answered; empty when it named none. */
  release: string
  /** The network of the address that answered. */
  network: string
}

const decompress = promisify(gunzip)

/** Called for a relay that speaks another version of the protocol. */
export type OnIncompatible = (origin: string, protocolVersion: string) => void

/**
 * Asks a peer of the overlay, and resolves with its whole answer.
 * @throws Error when the relay is not a peer, or does not answer
 */
export type AskOverlay = (origin: string, path: string, signal: AbortSignal) => Promise<string>

/** Whether the relay of an origin may be asked at an address. */
export type MayAsk = (origin: string, address: string) => boolean

export class RelayQueries {
  readonly #client: Pick<HttpClient, 'request'>
  readonly #bootstraps: ReadonlySet<string>
  readonly #onIncompatible: OnIncompatible
  readonly #signal: AbortSignal
  readonly #mayAsk: MayAsk
  readonly #deadlineMs: number

  /** @param bootstraps origins from the settings, which may be at any address, except in {@link requireRelay} */
  constructor(
    client: Pick<HttpClient, 'request'>,
    bootstraps: ReadonlySet<string>,
    onIncompatible: OnIncompatible,
    signal: AbortSignal,
    mayAsk: MayAsk = () => true,
    deadlineMs: number = DISCOVERY_LIMITS.queryMs,
  ) {
    this.#deadlineMs = deadlineMs
    this.#mayAsk = mayAsk
    this.#client = client
    this.#bootstraps = bootstraps
    this.#onIncompatible = onIncompatible
    this.#signal = signal
  }

  /**
   * Makes sure that an origin which a stranger named is a relay of this protocol, at a public address.
   * @throws RelayRefused or OutboundError
   */
  async requireRelay(origin: string): Promise<void> {
    const { data } = await this.#ask(origin, PATH.domain, { maxBytes: ANSWER_MAX_BYTES })
    this.#requireVersion(origin, data, [PROTOCOL_VERSION])
  }

  /**
   * @param isWhole true to ask for every relay that it knows, false only for itself
   * @param isConfigured true to ask a bootstrap relay at any address
   * @throws RelayRefused or OutboundError
   */
  async list(origin: string, isWhole: boolean, isConfigured: boolean): Promise<RelayList> {
    const path = isWhole ? PATH.discovery : `${PATH.discovery}?${ONLY_OWN_DESCRIPTOR}`
    const request = {
      maxBytes: LIST_MAX_BYTES,
      isConfigured: isConfigured && this.#bootstraps.has(origin),
      ...(isWhole && { headers: { 'Accept-Encoding': 'gzip' } }),
    }
    const { data, address } = await this.#ask(origin, path, request)
    this.#requireVersion(origin, data, DISCOVERY_VERSIONS)
    if (!Array.isArray(data.relays)) throw new RelayRefused('bad_answer')
    const release = data.release_version
    const isRelease = typeof release === 'string' && release.length <= RELEASE_MAX_CHARS && isVersion(release)
    return {
      // The relay itself, and as many others as a relay may know.
      relays: data.relays.slice(0, RELAYS_MAX + 1),
      release: isRelease ? release : '',
      network: relayNetworkOf(address),
    }
  }

  /** Asks a relay only for itself, over the overlay. @returns its descriptors as received. @throws RelayRefused */
  async listOver(ask: AskOverlay, origin: string): Promise<unknown[]> {
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(this.#deadlineMs)])
    const text = await ask(origin, `${PATH.discovery}?${ONLY_OWN_DESCRIPTOR}`, signal).catch(() => {
      throw new RelayRefused('unreachable')
    })
    const data = dataOf(Buffer.from(text))
    this.#requireVersion(origin, data, DISCOVERY_VERSIONS)
    if (!Array.isArray(data.relays)) throw new RelayRefused('bad_answer')
    return data.relays.slice(0, 1)
  }

  /** Announces this relay to another one. @throws RelayRefused or OutboundError */
  async announce(origin: string, announcement: DiscoveryAnnouncement): Promise<void> {
    await this.#ask(origin, PATH.announce, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(announcement),
      maxBytes: ANSWER_MAX_BYTES,
      isConfigured: this.#bootstraps.has(origin),
    })
  }

  /**
   * Asks a relay whether it has a site, without revealing the site's label to a relay that does not know it.
   * @param signal ends the question
   * @returns the site's statement, unchecked; undefined when the relay does not have the site, or sends no statement
   * @throws RelayRefused or OutboundError
   */
  async siteStatement(origin: string, canonicalLabel: string, signal: AbortSignal): Promise<unknown> {
    const question = hash('sha256', siteQuestionText(canonicalLabel))
    const { data } = await this.#ask(origin, `${PATH.discoverySite}?site=${question}`, {
      maxBytes: SITE_ANSWER_MAX_BYTES,
      deadlineMs: SITE_QUESTION_DEADLINE_MS,
      signal: AbortSignal.any([signal, this.#signal]),
    })
    return data.here === true ? data.statement : undefined
  }

  async #ask(
    origin: string,
    path: string,
    request: HttpRequest,
  ): Promise<{ data: Record<string, unknown>; address: string | undefined }> {
    const response = await this.#client.request(`${origin}${path}`, {
      deadlineMs: this.#deadlineMs,
      signal: this.#signal,
      mayDial: (address) => this.#mayAsk(origin, address),
      ...request,
    })
    const { status, address } = response
    if (status < 200 || status > 299) throw new RelayRefused('bad_answer')
    return { data: dataOf(await decoded(response, request.maxBytes)), address }
  }

  #requireVersion(
    origin: string,
    { protocol_version: version }: Record<string, unknown>,
    understood: readonly string[],
  ): void {
    if (typeof version !== 'string' || version.length > VERSION_MAX_CHARS)
      throw new RelayRefused('bad_answer')
    if (understood.includes(version)) return
    this.#onIncompatible(origin, version)
    throw new RelayRefused('incompatible')
  }
}

/** Returns the body without its content coding. @throws RelayRefused */
async function decoded({ headers, body }: HttpResponse, maxOutputLength = ANSWER_MAX_BYTES): Promise<Buffer> {
  if (headers['content-encoding'] === undefined) return body
  if (headers['content-encoding'].toLowerCase() !== 'gzip') throw new RelayRefused('bad_answer')
  return await decompress(body, { maxOutputLength }).catch((error: NodeJS.ErrnoException) => {
    throw new RelayRefused(error.code === 'ERR_BUFFER_TOO_LARGE' ? 'too_large' : 'bad_answer')
  })
}

/** @returns the data of the envelope. @throws RelayRefused */
function dataOf(body: Buffer): Record<string, unknown> {
  if (!hasFewValues(body)) throw new RelayRefused('too_large')
  let answer: unknown
  try {
    answer = JSON.parse(body.toString())
  } catch {
    throw new RelayRefused('bad_answer')
  }
  const { data } = (answer ?? {}) as { data?: unknown }
  if (typeof data !== 'object' || data === null) throw new RelayRefused('bad_answer')
  return data as Record<string, unknown>
}

const [COMMA, BRACKET, BRACE] = Buffer.from(',[{') as unknown as [number, number, number]

/**
 * Counts brackets and commas: each value is the first of an array or object, or follows a comma. Those inside texts
 * count, too, but are few.
 */
function hasFewValues(body: Buffer): boolean {
  let values = 0
  // `for…of` would take five times as long.
  for (let at = 0; at < body.length && values <= ANSWER_MAX_VALUES; at++) {
    const byte = body[at]
    if (byte === COMMA || byte === BRACKET || byte === BRACE) values += 1
  }
  return values <= ANSWER_MAX_VALUES
}
