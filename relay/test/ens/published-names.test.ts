// The file of names with ENS records: what a start reads of it, and how much is written for many names.

import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createLog } from '../../src/core/log/log.ts'
import { PublishedNames } from '../../src/features/ens/published-names.ts'

const ROOT = 'relay.example'
const textOf = (digit: string) => `ENS1 0x${'1'.repeat(40)} 0x${digit.repeat(40)}`

let directory: string
let file: string
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'svc-names-'))
  file = path.join(directory, 'ens-names.txt')
})
afterEach(() => rm(directory, { recursive: true }))

const load = () => PublishedNames.load(directory, ROOT, createLog('silent'))
const lines = async () => (await readFile(file, 'utf8')).trimEnd().split('\n')

test('batches of names are appended, so that many names do not write the whole file each time', async () => {
  const names = await load()
  let replaced = 0
  let inode = 0
  for (let from = 0; from < 20_000; from += 500) {
    await names.add(Array.from({ length: 500 }, (_, index) => [`site${from + index}.${ROOT}`, textOf('a')]))
    const { ino } = await stat(file)
    if (ino !== inode) replaced++
    inode = ino
  }
  // The file doubles between two of them.
  expect(replaced).toBeLessThan(8)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect([...(await load())]).toEqual([...names])
  expect([...names]).toHaveLength(20_000)
})

test('names that come and go do not let the file grow, and the last line of a name counts', async () => {
  const names = await load()
  const hostname = `demo.${ROOT}`
  for (let round = 0; round < 30; round++) {
    const hostnames = [hostname, ...Array.from({ length: 100 }, (_, index) => `site${index}.${ROOT}`)]
    await names.add(hostnames.map((one) => [one, textOf(`${round % 10}`)]))
    for (const one of hostnames) names.remove(one)
  }
  await names.add([[hostname, textOf('f')]])
  expect((await lines()).length).toBeGreaterThan(1)
  expect((await lines()).length).toBeLessThanOrEqual(1_203)
  expect(new Map(await load()).get(hostname)).toBe(textOf('f'))
  names.remove(hostname)
  await names.write()
  expect(await readFile(file, 'utf8')).toBe('')
})

test('a line that a crash cut short is left out, and does not spoil the next one', async () => {
  const names = await load()
  await names.add([[`a.${ROOT}`, textOf('a')]])
  await names.add([[`b.${ROOT}`, textOf('b')]])
  await writeFile(file, (await readFile(file, 'utf8')).slice(0, -10))
  const after = await load()
  expect([...after]).toEqual([[`a.${ROOT}`, textOf('a')]])
  await after.add([[`c.${ROOT}`, textOf('c')]])
  expect(await lines()).toEqual([`a.${ROOT} ${textOf('a')}`, `c.${ROOT} ${textOf('c')}`])
})

test('after an append that failed the next write replaces the file', async () => {
  const names = await load()
  await names.add([[`a.${ROOT}`, textOf('a')]])
  await rm(file)
  await expect(names.add([[`b.${ROOT}`, textOf('b')]])).rejects.toThrow('cannot be written')
  await names.add([[`c.${ROOT}`, textOf('c')]])
  expect([...(await load())]).toEqual([...names])
  expect([...names]).toHaveLength(3)
})
