// The files of a site are written before it is over: its process may end then.

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { domainStoreBeside } from '../../src/identity/domain-store.ts'
import { FILE_WORK_MAX_MS, FileWork } from '../../src/identity/file-work.ts'
import { siteKeysBeside } from '../../src/identity/site-keys.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-file-work-'))
})
afterEach(async () => {
  vi.useRealTimers()
  await rm(folder, { recursive: true })
})

const SITE = { name: 'demo', relay: 'relay.example', address: `0x${'1'.repeat(40)}` } as const

it('waits for keys and chains that are being written', async () => {
  const files = new FileWork()
  const keys = files.ofKeys(siteKeysBeside(join(folder, 'identity.json')))
  const loaded = keys.load(SITE)
  await files.done()
  expect(await readdir(folder)).toEqual(['identity-demo@relay.example.pem'])
  const chain = [new Uint8Array([1, 2, 3])]
  void (await loaded).save(chain, 0)
  await files.done()
  expect((await keys.load(SITE)).chain).toEqual(chain)
  expect(await readdir(folder)).toHaveLength(1)
})

it('waits until a lock is gone, and for what the work with it began', async () => {
  const files = new FileWork()
  const domains = files.ofDomains(domainStoreBeside(join(folder, 'identity.json')))
  const { promise, resolve } = Promise.withResolvers<void>()
  const { signal } = new AbortController()
  let isDone = false
  void domains.lock(
    'acme-account',
    async () => {
      await promise
      void (await domains.load('a.test@acme.test')).save('text')
    },
    signal,
  )
  const done = files.done().then(() => {
    isDone = true
  })
  await domains.load('b.test@acme.test')
  expect(isDone).toBe(false)
  resolve()
  await done
  expect((await readdir(folder)).sort()).toEqual(
    ['a', 'b'].map((name) => `identity-${name}.test@acme.test.json`),
  )
  expect((await domains.load('a.test@acme.test')).text).toBe('text')
})

it('is done when work has failed', async () => {
  const files = new FileWork()
  const failing = files.ofDomains(domainStoreBeside(join(folder, 'identity.json')))
  const failed = failing.lock('a', () => Promise.reject(new Error('no')), new AbortController().signal)
  await expect(Promise.all([files.done(), failed])).rejects.toThrow('no')
  expect(await readdir(folder)).toEqual([])
})

it('does not wait for ever for files that never answer', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const files = new FileWork()
  void files.ofKeys({ load: () => new Promise(() => {}) }).load(SITE)
  const done = vi.fn()
  void files.done().then(done)
  await vi.advanceTimersByTimeAsync(FILE_WORK_MAX_MS - 1)
  expect(done).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(done).toHaveBeenCalledOnce()
})
