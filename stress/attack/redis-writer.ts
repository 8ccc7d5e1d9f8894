// Another tenant of the Redis of a relay on two machines: it reads and writes all entries, and has not the machines' secret. A site
// of its own is at the same relay. The honest site keeps its hostname and its visitors, and the operator the root host and the policy.
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { publish } from '@svc/sdk-node'
import { findHaproxy } from '../../tools/programs/haproxy.ts'
import { findRedis } from '../../tools/programs/services.ts'
import { newIdentity, RelayApi } from '../../tools/relay/api-client.ts'
import { type Machines, startMachines } from '../../tools/relay/machines.ts'
import { forgedLease, hostnameIn, type LeaseEntry, RedisAttacker } from '../../tools/relay/redis-attacker.ts'
import { visitorOf } from '../../tools/site/node-site.ts'
import { AdminClient } from './admin-client.ts'
import type { ConditionAttack, Outcome } from './attack.ts'
import { HELLO } from './honest-site.ts'

const MACHINES = 2
const ROUNDS_IN_A_SLICE = 2
const BANNED = '203.0.113.9'

export const attack: ConditionAttack = {
  by: 'conditions',
  what: 'somebody writes the Redis of two machines without their secret',
  seconds: 60,
  sliceSeconds: 0,
  run: async ({ isSlice, seconds }) => {
    if (findRedis() === undefined || findHaproxy() === undefined)
      return { lines: [], problems: [], skipped: 'there is no redis-server or no haproxy' }
    const adminToken = randomBytes(24).toString('hex')
    const machines = await startMachines({ count: MACHINES, env: { ADMIN_TOKEN: adminToken } })
    try {
      const until = performance.now() + seconds * 1000
      const goesOn = (round: number): boolean =>
        isSlice ? round < ROUNDS_IN_A_SLICE : performance.now() < until
      return await attacked(machines, adminToken, goesOn)
    } finally {
      await machines.stop()
    }
  },
}

async function attacked(
  { url, caFile, redis, machines }: Machines,
  adminToken: string,
  goesOn: (round: number) => boolean,
): Promise<Outcome> {
  const ca = await readFile(caFile, 'utf8')
  const attacker = new RedisAttacker(redis)
  const [api, admin] = [new RelayApi(url, ca, 2), new AdminClient(url, ca, adminToken)]
  const pids = machines.map(({ pid }) => pid)
  let site: Awaited<ReturnType<typeof publish>> | undefined
  const theirs = await attacker.leaseOf(async () => {
    const identity = crypto.getRandomValues(new Uint8Array(32))
    site = await publish({ relay: url, ca, name: 'honest', identity, fetch: () => new Response(HELLO) })
  })
  const own = await attacker.leaseOf(() => api.register(newIdentity(), 'mallory'))
  await admin.ban(BANNED)
  const oldPolicy = await attacker.get('policy')
  const visitor = visitorOf(site!, { ca, port: Number(new URL(url).port) })
  const problems: string[] = []
  let round = 0
  for (; goesOn(round); round++) {
    await writeEverything(attacker, { own, theirs, oldPolicy, round })
    for (const { name } of machines) {
      const body = await visitor.get('/').catch((error: Error) => error.message)
      if (`${body}` !== HELLO) problems.push(`round ${round}: a visitor, perhaps at ${name}, got ${body}`)
    }
    const stolen = await api.register(newIdentity(), 'honest').catch(() => undefined)
    if (stolen !== undefined) problems.push(`round ${round}: somebody else registered honest`)
    const banned = await admin.bannedIps().catch((error: Error) => [error.message])
    if (banned.join() !== BANNED) problems.push(`round ${round}: the operator's bans are ${banned.join()}`)
  }
  for (const [index, { pid, log, name }] of machines.entries()) {
    if (pid !== pids[index]) problems.push(`${name} is another process`)
    if (!log.some(({ fault }) => fault === 'forged')) problems.push(`${name} has noticed nothing`)
    for (const line of log) if (Number(line.level) >= 50) problems.push(`${name} logged ${line.msg}`)
  }
  api.close()
  admin.close()
  visitor.close()
  await site?.close()
  return {
    lines: [`${round} rounds of forged, moved, old and removed entries`],
    problems: problems.slice(0, 20),
  }
}

interface Known {
  own: LeaseEntry
  theirs: LeaseEntry
  oldPolicy: string
  round: number
}

async function writeEverything(
  attacker: RedisAttacker,
  { own, theirs, oldPolicy, round }: Known,
): Promise<void> {
  for (const hostname of [hostnameIn(theirs.head), 'honest.relay.localhost', 'relay.localhost'])
    await attacker.put(forgedLease(own, hostname))
  await attacker.put({ ...own, key: theirs.key })
  await attacker.put({ ...theirs, key: own.key })
  await attacker.put(forgedLease(theirs, hostnameIn(theirs.head)))
  for (const entry of [
    oldPolicy.replace(/^\d+/, `${10_000 + round}`),
    '99999 {"banned_ips":[]}',
    oldPolicy,
  ]) {
    await attacker.set('policy', entry)
    await attacker.tell('policy', '', entry)
  }
  await attacker.addMachine('127.0.0.1:9', `${Date.now()} {"run":"evil","release":"1"}`)
  await attacker.tell('file', 'privatekey.pem', 'evil')
  const names = (await attacker.keys()).filter((key) => /:(?:lease|name|challenge|budget):/.test(key))
  if (round % 2 === 1 && names.length > 0) await attacker.delete(...names)
}
