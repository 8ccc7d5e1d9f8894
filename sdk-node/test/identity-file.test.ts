// The identity file: created once and privately, refused when others can read it.

import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadIdentityFile } from '../src/identity-file.ts'

const KEY = `0x${'0a'.repeat(32)}`
let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-identity-'))
  path = join(folder, 'identity.json')
})
afterEach(() => rm(folder, { recursive: true }))

describe('a file that is not there', () => {
  it('is created for its owner only, and is the same from then on', async () => {
    const key = await loadIdentityFile(path)
    expect(key).toHaveLength(32)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({
      private_key: `0x${Buffer.from(key).toString('hex')}`,
    })
    expect(await loadIdentityFile(path)).toEqual(key)
    expect(await readdir(folder)).toEqual(['identity.json'])
  })

  it('is created once, however many start at once, and its folders too', async () => {
    const deep = join(folder, 'a', 'b', 'identity.json')
    const keys = await Promise.all(Array.from({ length: 20 }, () => loadIdentityFile(deep)))
    for (const key of keys) expect(key).toEqual(keys[0])
    expect(await readdir(join(folder, 'a', 'b'))).toEqual(['identity.json'])
  })
})

describe('a file that is there', () => {
  it('is read', async () => {
    await writeFile(path, JSON.stringify({ private_key: KEY }), { mode: 0o600 })
    expect(await loadIdentityFile(path)).toEqual(new Uint8Array(32).fill(10))
  })

  it.each([0o640, 0o604, 0o660, 0o601])('is refused with mode %o', async (mode) => {
    await writeFile(path, JSON.stringify({ private_key: KEY }))
    await chmod(path, mode)
    await expect(loadIdentityFile(path)).rejects.toMatchObject({
      code: 'identity_unavailable',
      message: expect.stringContaining('chmod 600'),
    })
  })

  it.each([
    ['not JSON', `private_key ${KEY}`],
    ['null', 'null'],
    ['without a key', '{}'],
    ['with a short key', JSON.stringify({ private_key: KEY.slice(0, -1) })],
    ['with a key without 0x', JSON.stringify({ private_key: KEY.slice(2) })],
    ['with a number', '{"private_key": 7}'],
  ])('is refused when it is %s, unquoted and unchanged', async (_, content) => {
    await writeFile(path, content, { mode: 0o600 })
    const error = await loadIdentityFile(path).catch((caught) => caught)
    expect(error.code).toBe('identity_unavailable')
    expect(error.message).not.toContain('0a0a')
    expect(error.cause).toBeUndefined()
    expect(await readFile(path, 'utf8')).toBe(content)
  })

  it('is an error with its cause when it cannot be read', async () => {
    await expect(loadIdentityFile(folder)).rejects.toMatchObject({
      code: 'identity_unavailable',
      cause: expect.objectContaining({ code: 'EISDIR' }),
    })
  })
})
