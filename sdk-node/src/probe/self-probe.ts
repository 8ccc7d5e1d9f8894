// Detects a relay that terminates TLS: the site visits itself, from its own address, and compares both ends' exported keying material.

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
import { ForeignKeyError, type ProbeConnection } from './probe-connection.ts'

/**
 * - `not_seen_from_here`: both ends of the visit's TLS are here. A relay that knows the site's address, or intercepts only some visitors, can
 *   spare this visit, so this says nothing about others.
 * - `suspected`: there are two TLS connections, so something between them can read the traffic.
 * - `failed`: the probe did not arrive, which proves nothing: relays are slow, networks break, and the owner of a custom domain may lead
 *   it elsewhere.
 * - `cached`: no probe took place. The relay's copy of the site's files answers at the only hostname of the site.
 */
export type ProbeVerdict = 'not_seen_from_here' | 'suspected' | 'failed' | 'cached'

interface Pending {
  nonce: Buffer
  /** The exported key material of the visiting end, once its handshake is done. */
  theirs: Promise<Buffer>
  settle(verdict: ProbeVerdict): void
}

/** Probes are the visits of a site to itself, which it recognizes among its visitors at each of its relays. */
export class Probes {
  readonly #pending = new Set<Pending>()

  get areOut(): boolean {
    return this.#pending.size > 0
  }

  /** Resolves with a visitor's stream; with undefined when it was that of a probe. */
  async admit(stream: SecureStream): Promise<ByteStream | undefined> {
    if (!this.areOut) return stream
    const { first, rest } = await peekableStream(stream, PROBE_PEEK_MS)
    const pending = first && [...this.#pending].find(({ nonce }) => isProbe(first, nonce))
    if (!pending) return rest
    const ours = stream.exportKeyingMaterial(PROBE_LABEL, PROBE_MATERIAL_BYTES)
    pending.settle(timingSafeEqual(ours, await pending.theirs) ? 'not_seen_from_here' : 'suspected')
    end(rest)
    return undefined
  }

  /** Resolves with what a visit shows. */
  async judge(visit: ProbeConnection): Promise<ProbeVerdict> {
    const { promise, resolve } = Promise.withResolvers<ProbeVerdict>()
    const nonce = randomBytes(PROBE_NONCE_BYTES)
    // Awaited from the first packet on: a TLS interceptor may connect here before its handshake with the probe is
    // done.
    const theirs = visit.secured.then(() => visit.exportKeyingMaterial(PROBE_LABEL, PROBE_MATERIAL_BYTES))
    const pending: Pending = { nonce, theirs, settle: resolve }
    this.#pending.add(pending)
    const deadline = setTimeout(() => resolve('failed'), PROBE_DEADLINE_MS)
    theirs.then(
      () => visit.send(Buffer.concat([nonce, padding()])),
      (error) => resolve(error instanceof ForeignKeyError ? 'suspected' : 'failed'),
    )
    visit.broken.then(() => resolve('failed'))
    const verdict = await promise
    clearTimeout(deadline)
    this.#pending.delete(pending)
    visit.close()
    return verdict
  }
}

export class SelfProbe {
  readonly #probes: Probes
  readonly #visit: (url: URL) => ProbeConnection
  readonly #url: () => URL | undefined
  readonly #verdict: (verdict: ProbeVerdict) => void
  #probedAt = Number.NEGATIVE_INFINITY

  /**
   * @param visit opens a connection like a visitor
   * @param url returns the site's URL; undefined while it does not lead to the site
   */
  constructor(
    probes: Probes,
    visit: (url: URL) => ProbeConnection,
    url: () => URL | undefined,
    verdict: (verdict: ProbeVerdict) => void,
  ) {
    this.#probes = probes
    this.#visit = visit
    this.#url = url
    this.#verdict = verdict
  }

  /** Called with each connection: real visitors trigger probes, and probes are recognized among the visitors. */
  readonly admit: Admit = async (stream) => {
    if (!this.#probes.areOut) this.#probeIfDue()
    return this.#probes.admit(stream)
  }

  #probeIfDue(): void {
    const now = performance.now()
    if (now - this.#probedAt < PROBE_COOLDOWN_MS) return
    this.#probedAt = now
    const url = this.#url()
    if (url) void this.#probes.judge(this.#visit(url)).then(this.#verdict)
    else this.#verdict('cached')
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

/** @returns the first bytes within `ms` milliseconds, and the complete stream */
async function peekableStream(
  stream: ByteStream,
  ms: number,
): Promise<{ first: Uint8Array | undefined; rest: ByteStream }> {
  let reading: Promise<Uint8Array | undefined> | undefined = stream.read()
  reading.catch(() => {}) // The next reader gets the error.
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms)
  })
  const first = await Promise.race([reading.catch(() => undefined), late])
  clearTimeout(timer)
  const read = (): Promise<Uint8Array | undefined> => {
    const pending = reading ?? stream.read()
    reading = undefined
    return pending
  }
  return {
    first,
    rest: {
      read,
      write: (bytes) => stream.write(bytes),
      end: () => stream.end(),
      abort: (reason) => stream.abort(reason),
    },
  }
}
