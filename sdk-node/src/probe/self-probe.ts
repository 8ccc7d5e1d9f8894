// Looks for a relay that ends TLS: the site visits itself, from its own address, and compares what both ends of the connection export.

import { randomBytes, randomInt, timingSafeEqual } from 'node:crypto'
import {
  PROBE_COOLDOWN_MS,
  PROBE_DEADLINE_MS,
  PROBE_LABEL,
  PROBE_MATERIAL_BYTES,
  PROBE_NONCE_BYTES,
  PROBE_PADDING_MAX_BYTES,
  PROBE_PADDING_MIN_BYTES,
  PROBE_PEEK_MS,
} from '@svc/protocol'
import type { Admit, ByteStream, SecureStream } from '@svc/sdk-core'
import { peekableStream } from './peekable-stream.ts'
import type { ProbeConnection } from './probe-connection.ts'

/**
 * - `not_seen_from_here`: the visit's TLS had both its ends here. A relay that knows the site's address, or reads some visitors alone, can
 *   spare this visit, so it says nothing of any other.
 * - `suspected`: there are two connections, so something between them reads what passes.
 * - `failed`: the probe did not come through, which proves nothing: relays are slow, and networks break.
 * - `cached`: no probe took place. The relay's copy of the site's files answers at the only hostname of the site.
 */
export type ProbeVerdict = 'not_seen_from_here' | 'suspected' | 'failed' | 'cached'

interface Pending {
  nonce: Buffer
  /** The exported key material of the visiting end, once its handshake is done. */
  theirs: Promise<Buffer>
  settle(verdict: ProbeVerdict): void
}

export class SelfProbe {
  readonly #visit: (url: URL) => ProbeConnection
  readonly #url: () => URL | undefined
  readonly #verdict: (verdict: ProbeVerdict) => void
  #pending: Pending | undefined
  #probedAt = Number.NEGATIVE_INFINITY

  /**
   * @param visit opens a connection as a visitor does
   * @param url of the site, once there is one; undefined while nothing passes there to the site
   */
  constructor(
    visit: (url: URL) => ProbeConnection,
    url: () => URL | undefined,
    verdict: (verdict: ProbeVerdict) => void,
  ) {
    this.#visit = visit
    this.#url = url
    this.#verdict = verdict
  }

  /** Called with each connection: real visitors start probes, and probes are found among the visitors. */
  readonly admit: Admit = async (stream) => {
    const pending = this.#pending
    if (!pending) {
      this.#probeIfDue()
      return stream
    }
    const { first, rest } = await peekableStream(stream, PROBE_PEEK_MS)
    if (!first || !isProbe(first, pending.nonce)) return rest
    await this.#compare(stream, pending)
    end(rest)
    return undefined
  }

  async #compare(stream: SecureStream, { theirs, settle }: Pending): Promise<void> {
    const ours = stream.exportKeyingMaterial(PROBE_LABEL, PROBE_MATERIAL_BYTES)
    settle(timingSafeEqual(ours, await theirs) ? 'not_seen_from_here' : 'suspected')
  }

  #probeIfDue(): void {
    const now = performance.now()
    if (now - this.#probedAt < PROBE_COOLDOWN_MS) return
    this.#probedAt = now
    const url = this.#url()
    if (url) this.#probe(this.#visit(url))
    else this.#verdict('cached')
  }

  async #probe(visit: ProbeConnection): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<ProbeVerdict>()
    const nonce = randomBytes(PROBE_NONCE_BYTES)
    // Awaited from the first packet on: something that terminates TLS may come here before its handshake with the probe is
    // done.
    const theirs = visit.secured.then(() => visit.exportKeyingMaterial(PROBE_LABEL, PROBE_MATERIAL_BYTES))
    this.#pending = { nonce, theirs, settle: resolve }
    const deadline = setTimeout(() => resolve('failed'), PROBE_DEADLINE_MS)
    visit.broken.then(() => resolve('failed'))
    theirs.then(
      () => visit.send(Buffer.concat([nonce, padding()])),
      () => resolve('failed'),
    )
    const verdict = await promise
    clearTimeout(deadline)
    this.#pending = undefined
    visit.close()
    this.#verdict(verdict)
  }
}

function isProbe(first: Uint8Array, nonce: Buffer): boolean {
  return first.length >= nonce.length && timingSafeEqual(first.subarray(0, nonce.length), nonce)
}

function padding(): Buffer {
  return randomBytes(randomInt(PROBE_PADDING_MIN_BYTES, PROBE_PADDING_MAX_BYTES + 1))
}

function end(stream: ByteStream): void {
  stream.end().catch(() => stream.abort())
}
