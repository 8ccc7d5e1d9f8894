// The file of share links: what it has, who may read it, and what two processes make of it.

import { chmod, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SHARES_MAX, type StoredShare } from '@svc/sdk-core/access'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ShareFile } from '../../src/identity/share-file.ts'

let folder: string
let file: ShareFile
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-shares-'))
  file = beside('demo')
})
afterEach(() => rm(folder, { recursive: true }))

const beside = (name?: string): ShareFile => new ShareFile(join(folder, 'identity.json'), name)
const path = (): string => join(folder, 'identity@demo.shares.json')

function share(id: string, fields: Partial<StoredShare> = {}): StoredShare {
  const createdAt = new Date('2026-01-01T00:00:00Z')
  const link = { id, hash: `${id}-hash`, note: 'for Bob', once: false, until: undefined, createdAt }
  return { ...link, uses: 0, lastUse: undefined, ...fields }
}

it('keeps links for their owner alone, without the address of who used them', async () => {
  const used = share('b', {
    uses: 2,
    lastUse: { at: new Date('2026-01-02T00:00:00Z'), address: '192.0.2.7' },
  })
  await Promise.all(
    [share('a', { until: new Date(Date.now() + 60_000), once: true }), used].map((each) => file.add(each)),
  )
  expect((await stat(path())).mode & 0o777).toBe(0o600)
  expect(await readFile(path(), 'utf8')).not.toContain('192.0.2.7')
  const [first, second] = await beside('demo').load()
  expect(first).toMatchObject({ id: 'a', hash: 'a-hash', once: true, until: expect.any(Date) })
  expect(second).toEqual({ ...used, lastUse: { at: used.lastUse!.at, address: undefined } })
  expect(await readdir(folder)).toEqual(['identity@demo.shares.json'])
})

it('has a file for each name, none of which leads elsewhere', async () => {
  for (const name of [undefined, 'Demo', '../../evil', '/etc/evil']) await beside(name).add(share('a'))
  expect((await readdir(folder)).toSorted()).toEqual([
    'identity.shares.json',
    'identity@.shares.json',
    'identity@demo.shares.json',
  ])
})

it('forgets what has ended, and the oldest when there are too many', async () => {
  await file.add(share('ended', { until: new Date(Date.now() - 1) }))
  await file.add(share('a'))
  expect((await file.load()).map(({ id }) => id)).toEqual(['a'])
  const { shares } = JSON.parse(await readFile(path(), 'utf8'))
  const [one] = shares
  const many = Array.from({ length: SHARES_MAX }, (_, at) => ({ ...one, id: `many-${at}` }))
  await writeFile(path(), JSON.stringify({ shares: many }))
  await file.add(share('b'))
  const kept = await file.load()
  expect([kept.length, kept[0]!.id, kept.at(-1)!.id]).toEqual([SHARES_MAX, 'many-1', 'b'])
})

it('lets nothing be used again, or after its withdrawal, at another process', async () => {
  const other = beside('demo')
  const once = share('once', { once: true })
  await file.add(once)
  await file.add(share('gone'))
  const used = { ...once, hash: undefined, uses: 1 }
  expect([await file.use(used), await other.use(used)]).toEqual([true, false])
  await other.remove('gone')
  expect(await file.use(share('gone', { uses: 1 }))).toBe(false)
  expect(await file.load()).toEqual([used])
})

it('lets one of many processes use a link, while others change the file', async () => {
  const once = share('once', { once: true })
  await file.add(once)
  await file.add(share('a'))
  const used = { ...once, hash: undefined, uses: 1 }
  const uses = Array.from({ length: 4 }, () => [used, share('a')].map((each) => beside('demo').use(each)))
  const results = await Promise.all(uses.flat())
  expect(results.filter((isUsed) => isUsed)).toHaveLength(5)
  expect(await file.load()).toMatchObject([{ hash: undefined }, { uses: 4 }])
  expect(await readdir(folder)).toEqual(['identity@demo.shares.json'])
})

it('is changed although a process ended in the middle of a change', async () => {
  const lock = `${path()}.lock`
  await writeFile(lock, '')
  const before = new Date(Date.now() - 60_000)
  await utimes(lock, before, before)
  await file.add(share('a'))
  expect(await readdir(folder)).toEqual(['identity@demo.shares.json'])
})

it('counts the uses of two processes together', async () => {
  await file.add(share('a'))
  for (const process of [file, beside('demo')]) await process.use(share('a', { uses: 1 }))
  expect(await file.load()).toMatchObject([{ uses: 2 }])
})

it.each([
  '',
  '{}',
  '{"shares":{}}',
  '{"shares":[{"id":"a"}]}',
  '{"shares":[{"id":"a","note":"","once":1,"uses":0}]}',
])('refuses %s, and says what to do', async (text) => {
  await writeFile(path(), text, { mode: 0o600 })
  const refused = { code: 'identity_unavailable', message: expect.stringContaining('remove the file') }
  await expect(file.load()).rejects.toMatchObject(refused)
  await expect(file.add(share('a'))).rejects.toMatchObject(refused)
  expect(await readFile(path(), 'utf8')).toBe(text)
})

it('refuses a file that others can read or write', async () => {
  await file.add(share('a'))
  for (const mode of [0o644, 0o602]) {
    await chmod(path(), mode)
    await expect(file.load()).rejects.toMatchObject({ message: expect.stringContaining('open to others') })
  }
})
