// `svc` at relays of other releases: a real relay, in whose `version.ts` another release stands.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, it as every, expect } from 'vitest'
import { wholeOnly } from '../../../tools/test-depth.ts'
import sdkPackage from '../../package.json' with { type: 'json' }
import { startTestRelay, type TestRelay } from '../support/relay.ts'
import { type Run, reported, runHere } from '../support/svc.ts'

const it = wholeOnly(every, 'clock')

/** Nothing has to listen there: the site is online all the same. */
const TARGET = '9'

let home: string
let run: Run | undefined
/** By the release of each. */
const relays = new Map<string, TestRelay>()
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'svc-releases-'))
})
afterEach(() => run?.stop())
afterAll(async () => {
  await Promise.all([...relays.values()].map((relay) => relay.close()))
  await rm(home, { recursive: true })
})

async function expose(release: string, ...args: string[]): Promise<{ run: Run; relay: TestRelay }> {
  const relay = relays.get(release) ?? (await start(release))
  relays.set(release, relay)
  run = runHere(home, ['expose', TARGET, '--relay', relay.origin, '--ca', relay.caFile, ...args])
  return { run, relay }
}

async function start(release: string): Promise<TestRelay> {
  const hook = join(home, `${release}.mjs`)
  await writeFile(
    hook,
    `import { registerHooks } from 'node:module'
registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    if (!url.endsWith('/relay/src/core/version.ts')) return loaded
    return { ...loaded, source: String(loaded.source).replace(/'.*'/, "'${release}'") }
  },
})`,
  )
  return await startTestRelay({ NODE_OPTIONS: `--import=${hook}` })
}

it('a newer one: one line on standard error, also when the site comes back', async () => {
  const { run, relay } = await expose('99.0.0')
  const { err, out, ended, interrupt } = run
  const line = `svc: ${relay.origin} has release 99.0.0, and this svc is ${sdkPackage.version}: ${relay.origin}/api/install.sh upgrades it`
  await expect.poll(() => err).toEqual([line])
  await relay.kill()
  await relay.start()
  await expect.poll(() => out.filter((text) => text.startsWith('https:')).length).toBe(2)
  interrupt()
  expect(await ended).toBe(0)
  expect(err.filter((text) => text.includes('release'))).toEqual([line])
})

it('a newer one, with --json: an event, and nothing on standard error', async () => {
  const { run, relay } = await expose('99.0.0', '--json')
  expect(await reported(run, 'update')).toEqual({
    event: 'update',
    relay: relay.origin,
    release_version: '99.0.0',
    svc_version: sdkPackage.version,
  })
  run.interrupt()
  await run.ended
  expect(run.err).toEqual([])
})

it('an older one: nothing is said', async () => {
  const { run, relay } = await expose('0.0.1', '--json')
  await reported(run, 'online')
  run.interrupt()
  expect(await run.ended).toBe(0)
  expect(run.err).toEqual([])
  expect(run.out.filter((line) => line.includes('"update"'))).toEqual([])
  expect(await relay.call('/sdk/domain')).toMatchObject({ data: { release_version: '0.0.1' } })
})
