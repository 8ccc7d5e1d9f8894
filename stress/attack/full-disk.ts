// The disk of the relay's state is full for a while: connected visitors notice nothing, the relay refuses what it cannot keep,
// and does not do it. When there is room again, it goes on without a restart, and a relay that must stop meanwhile stops in
// order.
import { setTimeout as pause } from 'node:timers/promises'
import { type HealthResponse, PATH } from '@svc/protocol'
import { mountSmallDisk, type TestDisk } from '../../relay/test/support/full-disk.ts'
import { dataOf, newIdentity, RelayApi } from '../../tools/relay/api-client.ts'
import { visitorOf } from '../../tools/site/node-site.ts'
import { AdminClient } from './admin-client.ts'
import type { ConditionAttack, Outcome } from './attack.ts'
import { describe, noticed, watchFor } from './impact.ts'
import { metric } from './metric.ts'
import { RelayUnderAttack } from './relay-under-attack.ts'
import type { Target } from './target.ts'

const QUIET_S = 4
/** A new site needs to be written down: it is the one visit that may be refused. */
const NEW_SITES: ReadonlySet<string> = new Set(['register'])
/** The last page of a full disk may have room for some, at a hundred bytes each. */
const ATTEMPTS = 100
/** Milliseconds from the first free byte to a relay that reports it: it tries again every few seconds, a busy one later. */
const RECOVERY_MS = 60_000
const LOOK_MS = 200
const BANNED = '192.0.2.1'
const UNWRITABLE = 'svc_relay_unwritable_files'

export const attack: ConditionAttack = {
  by: 'conditions',
  what: 'the disk is full for a while',
  seconds: 30,
  sliceSeconds: 0,
  run: async ({ isSlice, seconds }) => {
    const disk = mountSmallDisk()
    if (disk === undefined) return skipped('mounting a small tmpfs needs root')
    try {
      return await filled(disk, { isSlice, quietSeconds: isSlice ? 0 : QUIET_S, seconds })
    } finally {
      disk.close()
    }
  },
}

async function filled(
  disk: TestDisk,
  { isSlice, quietSeconds, seconds }: { isSlice: boolean; quietSeconds: number; seconds: number },
): Promise<Outcome> {
  const relay = await RelayUnderAttack.start({ isSlice, state: disk.directory })
  const admin = new AdminClient(relay.target.url, relay.target.ca, relay.target.adminToken)
  const problems: string[] = []
  const lines: string[] = []
  try {
    const before = await watchFor(relay, quietSeconds)
    disk.fill(relay.pid)
    const refused = await untilRefused(relay.target)
    if (refused === undefined) problems.push(`${ATTEMPTS} registrations were taken: the disk is not full`)
    const during = await watchFor(relay, seconds)
    lines.push(...describe(before, during))
    problems.push(
      ...noticed(before, during, { except: NEW_SITES }).map((problem) => `${problem} (while it was full)`),
    )
    problems.push(...(await lies(relay.target, admin)))
    disk.free(relay.pid)
    const from = performance.now()
    if (!(await isWhole(relay.target))) problems.push(`it did not recover in ${RECOVERY_MS / 1000} s`)
    else lines.push(`room was noticed after ${(performance.now() - from).toFixed(0)} ms`)
    if (refused !== undefined)
      await requireFree(relay.target, refused).catch((error) => problems.push(`${error}`))
    await admin.ban(BANNED).catch((error) => problems.push(`a ban after it was full: ${error}`))
    const after = await watchFor(relay, quietSeconds)
    problems.push(...noticed(before, after).map((problem) => `${problem} (with room again)`))
    if (!(await relay.isTheSame())) problems.push('the relay’s process died')
    disk.fill(relay.pid)
  } finally {
    admin.close()
  }
  const code = await relay.stop()
  if (code !== 0) problems.push(`told to stop on a full disk, it ended with ${code}`)
  return { lines, problems }
}

/** @returns the name of a site that was not taken */
async function untilRefused(target: Target): Promise<string | undefined> {
  const api = new RelayApi(target.url, target.ca, 1)
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const name = `late-${attempt}`
      const isTaken = await api.register(newIdentity(), name).then(
        () => true,
        () => false,
      )
      if (!isTaken) return name
    }
    return undefined
  } finally {
    api.close()
  }
}

/** @returns what the relay tells of itself, or of a ban, that is not so while its disk is full */
async function lies(target: Target, admin: AdminClient): Promise<string[]> {
  const isDone = await admin.ban(BANNED).then(
    () => true,
    () => false,
  )
  const isListed = (await admin.bannedIps()).includes(BANNED)
  return [
    ...(isDone ? ['a ban was taken that cannot be kept'] : []),
    ...(isListed ? ['a ban that was refused is in force'] : []),
    ...((await healthOf(target)) === 'ok' ? [`${PATH.health} says that all is well`] : []),
    ...((await metric(target, UNWRITABLE)) > 0 ? [] : [`${UNWRITABLE} says that all is well`]),
  ]
}

async function isWhole(target: Target): Promise<boolean> {
  const deadline = Date.now() + RECOVERY_MS
  while (Date.now() < deadline) {
    if ((await healthOf(target)) === 'ok') return true
    await pause(LOOK_MS)
  }
  return false
}

/** Checks that another identity gets the name of a registration that was refused. */
async function requireFree(target: Target, name: string): Promise<void> {
  const api = new RelayApi(target.url, target.ca, 1)
  try {
    const { hostname } = await api.register(newIdentity(), name)
    if (!hostname.startsWith(`${name}.`)) throw new Error(`${name} is kept although it was refused`)
  } finally {
    api.close()
  }
}

async function healthOf(target: Target): Promise<HealthResponse['status']> {
  const visitor = visitorOf({ url: target.url }, target)
  try {
    return dataOf<HealthResponse>({ status: 200, text: String(await visitor.get(PATH.health)) }).status
  } finally {
    visitor.close()
  }
}

function skipped(why: string): Outcome {
  return { lines: [], problems: [], skipped: why }
}
