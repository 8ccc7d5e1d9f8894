// The child of the static cache's crash test: publishes versions of sites for ever, and says in the file that it got as
// descriptor 3 which it begins (`>`) and which is published (`<`). It waits to be killed.
// `node cache-crash-writer.ts DIRECTORY SEED`

import { writeSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { parseManifest } from '@svc/protocol'
import { createLog } from '../../src/core/log/log.ts'
import type { Snapshot } from '../../src/features/static-cache/snapshot.ts'
import { SnapshotStore } from '../../src/features/static-cache/storage/snapshot-store.ts'
import { readUpload } from '../../src/features/static-cache/upload/multipart.ts'
import { CACHE_BYTES, filesOf, recordOf, SITES, siteOf } from './cache-crash-model.ts'
import { KEPT, READY } from './crash-model.ts'
import { bodyOf, CONTENT_TYPE, inPieces, uploadOf } from './multipart-body.ts'

const REPORT = 3
const PIECE_BYTES = 10_000
const [directory = '', seed = ''] = process.argv.slice(2)
const store = await SnapshotStore.open({ directory, bytes: CACHE_BYTES, log: createLog('silent') })
const say = (text: string): number => writeSync(REPORT, `${text}\n`)

flushCompileCache()
process.stdout.write(READY)
for (let site = 0; site < SITES; site++) void publishForEver(site)

async function publishForEver(site: number): Promise<void> {
  const { identityKey } = siteOf(site)
  let previous = store.kept.find(({ snapshot }) => snapshot.identityKey === identityKey)?.snapshot
  for (let version = Number(seed); ; version++) {
    say(`> ${site} ${version}`)
    const snapshot = await publish(site, version)
    say(`< ${site} ${version}`)
    process.stdout.write(KEPT)
    await store.rewrite(snapshot, recordOf(version))
    if (previous !== undefined) await store.remove(previous)
    previous = snapshot
  }
}

async function publish(site: number, version: number): Promise<Snapshot> {
  const body = inPieces(bodyOf(uploadOf(filesOf(site, version))), () => PIECE_BYTES)
  const limits = { maxExposureBytes: CACHE_BYTES, maxObjectBytes: CACHE_BYTES }
  const upload = await readUpload(body, CONTENT_TYPE, (manifest) => parseManifest(manifest, limits))
  const staged = await store.receive({
    ...upload,
    owner: siteOf(site),
    makeRoom: async () => false,
    signal: new AbortController().signal,
  })
  return await staged.publish(recordOf(version))
}
