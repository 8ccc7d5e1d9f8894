// Kills an uploader of the static cache at random moments, and checks after each that every snapshot is whole or absent, and
// that none is lost of which the uploader knew that it is published.

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '../../src/core/log/log.ts'
import { type KeptSnapshot, SnapshotStore } from '../../src/features/static-cache/storage/snapshot-store.ts'
import { CACHE_BYTES, filesOf, SITES, siteOf, VERSION_PATH } from './cache-crash-model.ts'
import { liveAndDie } from './crash-life.ts'
import { KEPT, READY } from './crash-model.ts'

const WRITER: string = join(import.meta.dirname, 'cache-crash-writer.ts')
const VERSIONS_PER_LIFE = 1_000_000

interface Told {
  /** The last version whose upload began, and the last one that was published. */
  begun: number
  published: number
}

export interface CacheCrashReport {
  crashes: number
  /** Publications that the uploader knew of. */
  published: number
  /** Lives that ended while an upload was not published. */
  cut: number
}

/** @throws Error that names what is lost, or is not whole */
export async function crashCache(times: number): Promise<CacheCrashReport> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-cache-crash-'))
  const told: Told[] = Array.from({ length: SITES }, () => ({ begun: 0, published: 0 }))
  const report: CacheCrashReport = { crashes: times, published: 0, cut: 0 }
  for (let life = 1; life <= times; life++) {
    const milestone = life % 2 === 0 ? KEPT : READY
    const text = await liveAndDie(WRITER, { directory, seed: life * VERSIONS_PER_LIFE, milestone })
    report.published += read(text, told)
    if (told.some(({ begun, published }) => begun > published)) report.cut += 1
    await check(directory, told)
  }
  await rm(directory, { recursive: true })
  return report
}

/** @returns the number of publications */
function read(report: string, told: Told[]): number {
  let published = 0
  for (const [, sign, site, version] of report.matchAll(/^([<>]) (\d+) (\d+)\n/gm)) {
    const one = told[Number(site)]!
    if (sign === '>') one.begun = Number(version)
    else one.published = Number(version)
    if (sign === '<') published += 1
  }
  return published
}

async function check(directory: string, told: readonly Told[]): Promise<void> {
  const store = await SnapshotStore.open({ directory, bytes: CACHE_BYTES, log: createLog('silent') })
  try {
    for (const [site, one] of told.entries()) {
      const kept = store.kept.filter(({ snapshot }) => snapshot.identityKey === siteOf(site).identityKey)
      if (kept.length > 1) throw new Error(`site ${site} has ${kept.length} snapshots`)
      const version = kept[0] === undefined ? 0 : await versionOf(store, site, kept[0])
      if (version < one.published || version > one.begun)
        throw new Error(
          `site ${site}: ${one.published} was published, ${one.begun} begun, ${version} is there`,
        )
    }
    const names = (await readdir(join(directory, 'snapshots'))).sort()
    const left = [...names, ...(await readdir(join(directory, 'staging')))].join()
    if (
      left !==
      store.kept
        .map(({ snapshot }) => snapshot.id)
        .sort()
        .join()
    )
      throw new Error(`there is more than the snapshots: ${left}`)
  } finally {
    await store.close()
  }
}

/** @throws Error when a file is not that of the version */
async function versionOf(store: SnapshotStore, site: number, { snapshot }: KeptSnapshot): Promise<number> {
  const borrowed = store.borrow(snapshot)
  const contentOf = async (path: string): Promise<Buffer> =>
    await readFile(borrowed.pathOf(snapshot.files.get(path)!, undefined))
  const version = Number(await contentOf(VERSION_PATH))
  const expected = Object.entries(filesOf(site, version))
  for (const [path, content] of expected)
    if (!(await contentOf(path)).equals(Buffer.from(content as string)))
      throw new Error(`${path} of site ${site} is not that of version ${version}`)
  if (snapshot.files.size !== expected.length)
    throw new Error(`site ${site} has ${snapshot.files.size} files`)
  borrowed.release()
  return version
}
