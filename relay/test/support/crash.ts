// Kills a writer of policy and reservations at random moments, and checks that no file is corrupt and no promise is lost.

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { liveAndDie } from './crash-life.ts'
import { isRelease, KEPT, KEYS, keyOf, numberOf, READY } from './crash-model.ts'

const WRITER: string = join(import.meta.dirname, 'crash-writer.ts')
/** A number above every number that one life reaches, so that the next life's are larger. */
const NUMBERS_PER_LIFE = 1_000_000
const FILES = ['leases.jsonl', 'leases.jsonl.svc-tmp', 'policy.json', 'policy.json.svc-tmp']

interface Told {
  /** The last number that the writer began with, and the last that it was promised. */
  begun: number
  kept: number
}

export interface CrashReport {
  crashes: number
  /** The number of writes that were promised to be kept, and were. */
  kept: number
}

/** @throws Error that names what was lost or cannot be read */
export async function crash(times: number): Promise<CrashReport> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-crash-'))
  const told: Told[] = Array.from({ length: KEYS }, () => ({ begun: 0, kept: 0 }))
  let kept = 0
  for (let life = 1; life <= times; life++) {
    // Every other life has something that must outlast it, however slow the machine is.
    const milestone = life % 2 === 0 ? KEPT : READY
    kept += read(await liveAndDie(WRITER, { directory, seed: life * NUMBERS_PER_LIFE, milestone }), told)
    await check(directory, told)
  }
  await rm(directory, { recursive: true })
  return { crashes: times, kept }
}

/** @returns the number of writes that were promised to be kept */
function read(report: string, told: Told[]): number {
  let kept = 0
  for (const [, sign, index, n] of report.matchAll(/^([<>]) (\d+) (\d+)\n/gm)) {
    const one = told[Number(index)]!
    if (sign === '>') one.begun = Number(n)
    else one.kept = Number(n)
    if (sign === '<') kept += 1
  }
  return kept
}

async function check(directory: string, told: readonly Told[]): Promise<void> {
  const strange = (await readdir(directory)).filter((name) => !FILES.includes(name))
  if (strange.length > 0) throw new Error(`there is also ${strange.join(', ')}`)
  const found = new Map([
    ...(await readPolicy(join(directory, 'policy.json'))),
    ...(await readReservations(join(directory, 'leases.jsonl'))),
  ])
  for (const [index, { begun, kept }] of told.entries()) {
    const n = found.get(keyOf(index))
    const isKept = n === undefined ? mayBeNothing(kept, begun) : n >= kept && n <= begun
    if (!isKept) throw new Error(`${keyOf(index)}: ${kept} was promised, ${begun} begun, ${n} is there`)
  }
}

/** @returns whether one of the numbers that may be on disk means that nothing is there */
function mayBeNothing(kept: number, begun: number): boolean {
  return kept === 0 || isRelease(kept) || (begun > kept && isRelease(begun))
}

async function readPolicy(path: string): Promise<Map<string, number>> {
  return new Map(Object.entries(JSON.parse(await readFile(path, 'utf8')).identity_bps))
}

/**
 * Reads by hand, so that the reader under test proves nothing of itself: the last line of each key, less one that is cut off.
 */
async function readReservations(path: string): Promise<Map<string, number>> {
  const text = await readFile(path, 'utf8').catch(() => '')
  const found = new Map<string, number>()
  for (const line of text.split('\n').slice(0, -1)) {
    const { identity_key, hostname, expires_at } = JSON.parse(line)
    // It was given up: the rest of it ended in the past.
    if (Date.parse(expires_at) <= Date.now()) found.delete(identity_key)
    else found.set(identity_key, numberOf(hostname))
  }
  return found
}
