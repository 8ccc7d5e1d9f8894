// What a Node that is too old is told: one sentence, by the command and by the library.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { expose, publish } from '../../src/index.ts'
import { nodeTooOld } from '../../src/node-version.ts'

const OLD = { ...process.versions, node: '20.20.2' }
const SENTENCE = 'svc needs Node 24 or later, and this is Node 20.20.2'

afterEach(() => void vi.unstubAllGlobals())

it('names the oldest version that package.json allows', async () => {
  const { engines } = JSON.parse(await readFile(join(import.meta.dirname, '../../package.json'), 'utf8'))
  const oldest = engines.node.replace('>=', '')
  expect(nodeTooOld({ ...OLD, node: `${oldest}.0.0` })).toBeUndefined()
  expect(nodeTooOld({ ...OLD, node: `${oldest - 1}.9.9` })).toContain(`Node ${oldest} or later`)
})

it('judges no other runtime by the version of Node that it names', () => {
  expect(nodeTooOld({ ...OLD, bun: '1.2.0' })).toBeUndefined()
  expect(nodeTooOld({ ...OLD, deno: '2.0.0' } as NodeJS.ProcessVersions)).toBeUndefined()
})

it.each<[string, () => Promise<unknown>]>([
  ['publish', () => publish({ relay: 'https://relay.localhost', fetch: () => new Response() })],
  ['expose', () => expose({ relay: 'https://relay.localhost', http: 1 })],
])('%s rejects with it', async (_name, call) => {
  vi.stubGlobal('process', Object.create(process, { versions: { value: OLD } }))
  await expect(call()).rejects.toMatchObject({ code: 'unsupported_platform', message: SENTENCE })
})

it('can be loaded where Node lacks process.getBuiltinModule, and publish rejects', async () => {
  const members = { versions: { value: OLD }, getBuiltinModule: { value: undefined } }
  vi.stubGlobal('process', Object.create(process, members))
  vi.resetModules()
  const { publish } = await import('../../src/index.ts')
  const published = publish({ relay: 'https://relay.localhost', fetch: () => new Response() })
  await expect(published).rejects.toMatchObject({ code: 'unsupported_platform', message: SENTENCE })
})
