// Visitors who say hello to a site and leave before its answer: each may cost the site one session, and no more, or honest
// visitors find none.
import { setTimeout as pause } from 'node:timers/promises'
import { captureHello } from '../../tools/network/client-hello.ts'
import type { Random } from '../soak/random.ts'
import type { ClientAttack, Facts } from './attack.ts'
import { metric } from './metric.ts'
import { openTcp, type Target } from './target.ts'

/** Visitors who come in one burst. */
const BURST = 8
/** Milliseconds between two bursts, which makes 40 visitors a second. */
const PAUSE_MS = 200
/** Before or behind the relay's claim, as it happens. */
const STAY_MAX_MS = 4
/** Honest visitors of the meantime are counted as well: some nine a second open a connection, and a dozen come before and after. */
const HONEST_PER_SECOND = 10
const HONEST_AT_ONCE = 16
/** Each kind of honest visitor may be one visit ahead of its rate. */
const HONEST_KINDS = 4

export const attack: ClientAttack = {
  by: 'clients',
  what: 'visitors leave after their hello',
  seconds: 30,
  sliceSeconds: 2,
  least: { 'visitors who left': 400 },
  most: { 'sessions for each of them': 1 },
  run,
}

async function run(target: Target, begin: () => number, random: Random): Promise<Facts> {
  const hello = await captureHello(target.siteHost)
  const before = await metric(target, 'svc_relay_activations_total')
  const from = Date.now()
  const until = begin()
  let left = 0
  const visit = async (number: number): Promise<void> => {
    const socket = await openTcp(target.port, number)
    socket.write(hello)
    await pause(random.between(0, STAY_MAX_MS))
    if (random.next() < 0.5) socket.resetAndDestroy()
    else socket.destroy()
    left += 1
  }
  do {
    await Promise.all(Array.from({ length: BURST }, (_, number) => visit(number)))
    await pause(PAUSE_MS)
  } while (Date.now() < until)
  const spent = (await metric(target, 'svc_relay_activations_total')) - before
  const honest = HONEST_AT_ONCE + HONEST_KINDS + (HONEST_PER_SECOND * (Date.now() - from)) / 1000
  return {
    'visitors who left': left,
    'sessions given': spent,
    'sessions for each of them': Math.max(0, spent - honest) / Math.max(1, left),
  }
}
