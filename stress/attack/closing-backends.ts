// A backend that closes each session without an answer, as some TLS servers do for a hello that they cannot serve: one
// visitor of it must not cost the relay a claim after the other.
import { setTimeout as pause } from 'node:timers/promises'
import { MARKER, PATH } from '@svc/protocol'
import { captureHello } from '../../tools/network/client-hello.ts'
import type { ClientAttack, Facts } from './attack.ts'
import { openTcp, openTls, registerLease, type Target, untilThen } from './target.ts'

/** Sessions, as many as a lease may have ready. */
const SESSIONS = 8
const VISITORS = 4
/** A visitor waits for an answer so long; it is the relay's own bound for one, and the alert may come before. */
const VISIT_MS = 10_000
/** A session that is refused is asked for again after this. */
const AGAIN_MS = 100
/** The first, and two more (docs/decisions, claiming again). */
const CLAIMS_PER_VISITOR = 3

export const attack: ClientAttack = {
  by: 'clients',
  what: 'a backend closes every session without an answer',
  seconds: 20,
  sliceSeconds: 2,
  least: { visitors: 4 },
  most: { 'claims for each visitor': CLAIMS_PER_VISITOR },
  run,
}

async function run(target: Target, begin: () => number): Promise<Facts> {
  const lease = await registerLease(target, 'closing', 0)
  const hello = await captureHello(lease.hostname)
  const until = begin()
  const facts = { visitors: 0, claims: 0 }
  const session = async (): Promise<void> => {
    while (Date.now() < until) {
      if (await wasActivated(target, lease.reverse_endpoint.capability, until)) facts.claims += 1
      else await pause(AGAIN_MS)
    }
  }
  const visitor = async (number: number): Promise<void> => {
    while (Date.now() < until) {
      const socket = await openTcp(target.port, number)
      facts.visitors += 1
      socket.resume().write(hello)
      const closed = new Promise((resolve) => socket.once('close', resolve))
      await Promise.race([closed, untilThen(Math.min(until, Date.now() + VISIT_MS))])
      socket.destroy()
      await pause(AGAIN_MS)
    }
  }
  await Promise.all([
    ...Array.from({ length: SESSIONS }, session),
    ...Array.from({ length: VISITORS }, (_, number) => visitor(number)),
  ])
  return { ...facts, 'claims for each visitor': facts.claims / Math.max(1, facts.visitors) }
}

/** Opens a native session and closes it as soon as a visitor is given to it. */
async function wasActivated(target: Target, capability: string, until: number): Promise<boolean> {
  const { tls, tcp } = await openTls(target, target.rootHost, 0)
  const head = [`GET ${PATH.connect} HTTP/1.1`, `Host: ${target.rootHost}:${target.port}`]
  tls.write([...head, `X-Svc-Reverse-Capability: ${capability}`, '', ''].join('\r\n'))
  let received = Buffer.alloc(0)
  const activated = new Promise<boolean>((resolve) => {
    tls.on('data', (bytes: Buffer) => {
      received = Buffer.concat([received, bytes])
      const head = received.indexOf('\r\n\r\n')
      if (head >= 0 && received.subarray(head + 4).includes(MARKER.tls)) resolve(true)
    })
    tls.once('close', () => resolve(false))
  })
  const outcome = await Promise.race([activated, untilThen(until).then(() => false)])
  tcp.destroy()
  return outcome
}
