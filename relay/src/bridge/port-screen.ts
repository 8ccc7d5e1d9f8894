// Keeps a dedicated TCP port from answering for a hostname that is not its lease's: browsers share cookies among all ports of a host.

import type { Duplex } from 'node:stream'
import type { Lease } from '../lease/lease.ts'
import type { VisitorConnection } from '../reverse/pending-visitor.ts'
import { whenEnded } from './copy-from-stream.ts'
import { FirstAnswer, FirstBytes, type FirstBytesVerdict } from './first-bytes.ts'

type Begin = (from: Duplex, to: Duplex) => void

/** Whether a hostname is the relay's or another lease's: each such name is the root host, or below it. */
export function isForeign(hostname: string, { canonicalHostname, hostnames }: Lease): boolean {
  const rootHost = canonicalHostname.slice(canonicalHostname.indexOf('.') + 1)
  const isBelow = hostname === rootHost || hostname.endsWith(`.${rootHost}`)
  return isBelow && !hostnames.includes(hostname)
}

/**
 * Passes on what both sides send first, and calls `begin` for each direction as soon as the rest of it may be copied unread. What
 * is neither HTTP nor TLS passes as it comes, whoever speaks first. A visitor who names a foreign host is reset.
 */
export function screenFirstBytes(
  visitor: VisitorConnection,
  session: Duplex,
  lease: Lease,
  begin: Begin,
): void {
  const request = new FirstBytes((hostname) => isForeign(hostname, lease))
  const answer = new FirstAnswer()
  const toVisitor = new Screened(session, visitor, (bytes) => answer.push(bytes), begin)
  const toSession = new Screened(
    visitor,
    session,
    (bytes) => {
      const verdict = request.push(bytes)
      if (verdict === 'refuse') visitor.resetAndDestroy()
      if (verdict === 'pass') toVisitor.release()
      return verdict
    },
    begin,
  )
  // A visitor who sends nothing more has named no host.
  whenEnded(visitor, () => {
    toSession.release()
    toVisitor.release()
  })
  whenEnded(session, () => toVisitor.isHolding || toVisitor.release())
}

/** One direction, until it may be copied unread. */
class Screened {
  readonly #from: Duplex
  readonly #to: Duplex
  readonly #judge: (bytes: Buffer) => FirstBytesVerdict
  readonly #begin: Begin
  readonly #held: Buffer[] = []
  #isReleased = false

  constructor(from: Duplex, to: Duplex, judge: (bytes: Buffer) => FirstBytesVerdict, begin: Begin) {
    this.#from = from
    this.#to = to
    this.#judge = judge
    this.#begin = begin
    from.on('readable', this.#read)
    this.#read()
  }

  get isHolding(): boolean {
    return this.#held.length > 0
  }

  /** Passes on what was held, and lets the rest be copied. */
  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#from.off('readable', this.#read)
    for (const bytes of this.#held.splice(0)) this.#to.write(bytes)
    // A stream forgets at the end of the turn that it had a listener to 'readable', and flows only then.
    process.nextTick(() => {
      if (!this.#from.destroyed && !this.#to.destroyed) this.#begin(this.#from, this.#to)
    })
  }

  #read = (): void => {
    while (!this.#isReleased) {
      const bytes: Buffer | null = this.#from.read()
      if (bytes === null) return
      const verdict = this.#judge(bytes)
      if (verdict === 'refuse') return
      if (verdict === 'more') this.#to.write(bytes)
      else this.#held.push(bytes)
      if (verdict === 'pass') this.release()
    }
  }
}
