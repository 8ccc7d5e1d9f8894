// One address that takes as many connections as it gets, to a site, to the API and to a dedicated port, and does nothing
// with them: those of other addresses must find room.
import type { ClientAttack, Facts } from './attack.ts'
import { openTcp, openTls, type Target, untilThen } from './target.ts'

const HOARDER = 7
/** Connections, more than one address may have anywhere. */
const CONNECTIONS = 600
const AT_A_TIME = 8
const AGAIN_MS = 200
const OPENING_SHARE = 0.6

export const attack: ClientAttack = {
  by: 'clients',
  what: 'one address hoards connections to a site, to the API and to a dedicated port',
  seconds: 40,
  sliceSeconds: 3,
  least: { 'connections tried': 500 },
  // A visitor who finds all taken displaces the hoarder's after a second (docs/decisions/0073), and others are before it.
  patience: { medianMs: 2000, tailMs: 5000 },
  run,
}

async function run(target: Target, begin: () => number): Promise<Facts> {
  const until = begin()
  const openingEnds = Date.now() + OPENING_SHARE * (until - Date.now())
  const facts = { 'connections tried': 0, 'of them held at the end': 0 }
  const held = new Set<object>()
  const openers = [
    () => openTls(target, target.siteHost, HOARDER),
    () => openTls(target, target.rootHost, HOARDER),
    async () => ({ tcp: await openTcp(target.tcpPort, HOARDER) }),
  ]
  const hoard = async (open: (typeof openers)[number]): Promise<void> => {
    for (let count = 0; count < CONNECTIONS && Date.now() < openingEnds; count++) {
      const { tcp } = await Promise.race([open(), untilThen(until).then(() => ({ tcp: undefined }))])
      facts['connections tried'] += 1
      if (tcp === undefined) return
      if (tcp.destroyed) await untilThen(Date.now() + AGAIN_MS)
      else held.add(tcp)
      tcp.once('close', () => held.delete(tcp))
    }
  }
  await Promise.all(openers.flatMap((open) => Array.from({ length: AT_A_TIME }, () => hoard(open))))
  await untilThen(until)
  return { ...facts, 'of them held at the end': held.size }
}
