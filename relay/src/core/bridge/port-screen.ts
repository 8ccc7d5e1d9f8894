// Refuses visitors of a dedicated TCP port who name another lease's hostname: browsers share a host's cookies among its
// ports.

import type { Duplex } from 'node:stream'
import { resetSocket } from '@svc/node-kit/sockets'
import type { Lease } from '../lease/lease.ts'
import type { VisitorConnection } from '../reverse/pending-visitor.ts'
import { whenEnded } from './copy-from-stream.ts'
import { FirstAnswer, FirstBytes, type FirstBytesVerdict } from './first-bytes.ts'

type Begin = (from: Duplex, to: Duplex) => void

/** Whether a hostname is the relay's or another lease's: each such name is the root host, or below it. */
function isForeign(hostname: string, { canonicalHostname, hostnames }: Lease): boolean {
  const rootHost = canonicalHostname.slice(canonicalHostname.indexOf('.') + 1)
  const isBelow = hostname === rootHost || hostname.endsWith(`.${rootHost}`)
  return isBelow && !hostnames.includes(hostname)
}

/**
 * Forwards the first bytes of both sides, and calls `begin` for each direction as soon as its rest may be copied
 * unchecked. What is neither HTTP nor TLS passes as it arrives, whichever side speaks first. The relay resets a visitor
 * who names a foreign host.
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
      if (verdict === 'refuse') resetSocket(visitor)
      if (verdict === 'pass') toVisitor.release()
      return verdict
    },
    begin,
  )
  // A visitor who ended its side can name no host any more.
  whenEnded(visitor, () => {
    toSession.release()
    toVisitor.release()
  })
  // While the site's bytes wait, its end waits behind them.
  whenEnded(session, () => toVisitor.release())
}

/**
 * One direction, until it may be copied unchecked. Held bytes go back to the front of their source, so that the copy
 * counts them and applies back-pressure.
 */
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

  /** Lets the held bytes and the rest be copied. */
  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#putBack()
    // A stream whose 'readable' listener was removed can flow only from the next turn on.
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
      if (verdict === 'wait') {
        this.#putBack()
        return
      }
    }
  }

  /** Stops reading, so that the source receives no more than its buffer holds. */
  #putBack(): void {
    this.#from.off('readable', this.#read)
    const held = Buffer.concat(this.#held.splice(0))
    if (held.length === 0) return
    // A source that has emitted 'end' allows no `unshift`.
    if (this.#from.readableEnded) this.#to.write(held)
    else this.#from.unshift(held)
  }
}
