// `kill -9` again and again, with registrations and bans in between: the relay starts each time, what it promised holds, and
// a site that was published once is there again. `npm run crash` does the same to the files alone, far more often.
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { publish } from '@svc/sdk-node'
import { freePort } from '../../tools/network/free-port.ts'
import { type Identity, newIdentity, RelayApi } from '../../tools/relay/api-client.ts'
import { BUDGETS_OF_MANY, type RelayProcess, startRelay } from '../../tools/relay/process.ts'
import { visitorOf } from '../../tools/site/node-site.ts'
import { randomOf } from '../soak/random.ts'
import { AdminClient } from './admin-client.ts'
import type { ConditionAttack, Outcome } from './attack.ts'
import { HELLO } from './honest-site.ts'

const KILLS = 200
const KILLS_IN_A_SLICE = 2
/** Milliseconds that a relay lives at most once it has made its first promise. */
const LIFE_MAX_MS = 200
/** Milliseconds until its first promise, which comes soon on any machine that is not very busy. */
const FIRST_PROMISE_MS = 60_000
/** Registrants and an administrator who never stop. */
const REGISTRANTS = 2
/** Milliseconds from a kill until the relay listens again, in a whole run: a supervisor would have its own pause on top. */
const START_MAX_MS = 10_000
/** Names of one life that other identities ask for in the next. */
const CHECKED_PER_LIFE = 3
/** Silence takes the SDK 16 s to notice, and its pauses between attempts are up to 30 s; a busy machine takes longer. */
const RECOVERY_MS = 120_000
const CONFLICT = 409

export const attack: ConditionAttack = {
  by: 'conditions',
  what: 'kill -9, with registrations and bans in between',
  seconds: 400,
  sliceSeconds: 0,
  run: async ({ isSlice, seed }) => {
    const directory = await mkdtemp(path.join(tmpdir(), 'svc-attack-kills-'))
    try {
      return await killed(directory, isSlice, seed)
    } finally {
      await rm(directory, { recursive: true })
    }
  },
}

interface Promises {
  /** Registered in the life before, and by whom. */
  names: Map<string, Identity>
  /** Addresses, all that were ever banned. */
  bans: Set<string>
}

async function killed(directory: string, isSlice: boolean, seed: number): Promise<Outcome> {
  const kills = isSlice ? KILLS_IN_A_SLICE : KILLS
  const random = randomOf(seed)
  const port = await freePort()
  const url = `https://relay.localhost:${port}`
  const adminToken = randomBytes(24).toString('hex')
  const env = {
    SVC_URL: url,
    SNI_PORT: String(port),
    IDENTITY_PATH: directory,
    ADMIN_TOKEN: adminToken,
    LOG_LEVEL: 'info',
    ...BUDGETS_OF_MANY,
  }
  const promised: Promises = { names: new Map(), bans: new Set() }
  const problems: string[] = []
  const starts: number[] = []
  const counts = { registrations: 0, bans: 0 }
  let relay = await startRelay({ env })
  const ca = await readFile(path.join(directory, 'ca.pem'), 'utf8')
  const site = await publish({
    relay: url,
    ca,
    name: 'honest',
    identity: newKey(),
    fetch: () => new Response(HELLO),
  })
  for (let life = 0; life < kills; life++) {
    await live(relay, { url, ca, adminToken, life }, promised, random.between(0, LIFE_MAX_MS))
    counts.registrations += promised.names.size
    counts.bans = promised.bans.size
    const from = performance.now()
    relay = await startRelay({ env })
    starts.push(performance.now() - from)
    problems.push(...(await broken({ url, ca, adminToken }, promised)))
    promised.names.clear()
  }
  if (counts.registrations === 0) problems.push('nothing was promised: nothing was proved')
  const slowest = Math.max(...starts)
  if (!isSlice && slowest > START_MAX_MS) problems.push(`a start took ${slowest.toFixed(0)} ms`)
  const from = performance.now()
  if (!(await isBack(site.url, { ca, port })))
    problems.push(`the site was not back in ${RECOVERY_MS / 1000} s`)
  const back = performance.now() - from
  await site.close()
  await relay.stop()
  if (relay.exitCode() !== 0) problems.push(`told to stop, it ended with ${relay.exitCode()}`)
  return {
    lines: [
      `${kills} kills; ${counts.registrations} registrations and ${counts.bans} bans were promised`,
      `a start took ${slowest.toFixed(0)} ms at most; the site was back ${back.toFixed(0)} ms after the last one`,
    ],
    problems: problems.slice(0, 20),
  }
}

interface Access {
  url: string
  ca: string
  adminToken: string
}

/** Registrations and bans, and then the end in the middle of them. */
async function live(
  relay: RelayProcess,
  { url, ca, adminToken, life }: Access & { life: number },
  promised: Promises,
  lifeMs: number,
): Promise<void> {
  const api = new RelayApi(url, ca, REGISTRANTS)
  const admin = new AdminClient(url, ca, adminToken)
  let isOver = false
  const untilItFails = async (act: (n: number) => Promise<void>): Promise<void> => {
    try {
      for (let n = 0; !isOver; n++) await act(n)
    } catch {
      // it was killed meanwhile: nothing was promised
    }
  }
  const busy = [
    ...Array.from({ length: REGISTRANTS }, (_, registrant) =>
      untilItFails(async (n) => {
        const [identity, name] = [newIdentity(), `life-${life}-${registrant}-${n}`]
        await api.register(identity, name)
        promised.names.set(name, identity)
      }),
    ),
    untilItFails(async (n) => {
      const ip = `198.51.${life % 256}.${n % 256}`
      await admin.ban(ip)
      promised.bans.add(ip)
    }),
  ]
  const deadline = Date.now() + FIRST_PROMISE_MS
  while (promised.names.size === 0 && Date.now() < deadline) await pause(1)
  await pause(lifeMs)
  process.kill(relay.pid, 'SIGKILL')
  await relay.ended
  isOver = true
  await Promise.all(busy)
  api.close()
  admin.close()
}

/** @returns what does not hold that was promised */
async function broken({ url, ca, adminToken }: Access, { names, bans }: Promises): Promise<string[]> {
  const problems: string[] = []
  const api = new RelayApi(url, ca, 1)
  const admin = new AdminClient(url, ca, adminToken)
  for (const [name, identity] of [...names].slice(-CHECKED_PER_LIFE)) {
    const stranger = await api.register(newIdentity(), name).then(
      () => 'it was given to somebody else',
      (error) => (String(error).includes(`${CONFLICT} `) ? undefined : String(error)),
    )
    const owner = await api.register(identity, name).then(
      ({ hostname }) => (hostname.startsWith(`${name}.`) ? undefined : `its owner got ${hostname}`),
      (error) => `its owner did not get it: ${error}`,
    )
    problems.push(
      ...[stranger, owner].filter((problem) => problem !== undefined).map((one) => `${name}: ${one}`),
    )
  }
  const banned = new Set(await admin.bannedIps())
  for (const ip of bans) if (!banned.has(ip)) problems.push(`the ban of ${ip} is gone`)
  api.close()
  admin.close()
  return problems
}

async function isBack(url: string, relay: { ca: string; port: number }): Promise<boolean> {
  const deadline = Date.now() + RECOVERY_MS
  while (Date.now() < deadline) {
    const visitor = visitorOf({ url }, relay)
    const answer = await visitor.get('/').catch(() => undefined)
    visitor.close()
    if (answer !== undefined) return true
    await pause(100)
  }
  return false
}

function newKey(): Uint8Array {
  return new Uint8Array(randomBytes(32))
}
