// Addresses that keys decide, and the file that has the key.

import { createHash } from 'node:crypto'
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SettingsError } from '../../src/core/config/settings.ts'
import { loadLinkState, readLinkState } from '../../src/features/overlay/wireguard/link-state.ts'
import { isWireGuardKey, overlayAddressOf } from '../../src/features/overlay/wireguard/overlay-address.ts'

let directory: string
let path: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-wireguard-'))
  path = join(directory, 'wireguard.json')
})

afterEach(() => rm(directory, { recursive: true }))

test('an address is the prefix of the overlay and 80 bits of the hash of the key (protocol §17.1.2)', () => {
  const prefix = createHash('sha256').update('svc overlay').digest('hex').slice(0, 10)
  expect(prefix).toBe('9c6cc02f1f')
  const key = Buffer.alloc(32, 7)
  const digits = createHash('sha256').update(key).digest('hex').slice(0, 20)
  const address = overlayAddressOf(key.toString('base64'))
  expect(address.startsWith('fd9c:6cc0:2f1f:')).toBe(true)
  const groups = address.split(':').slice(3)
  expect(groups.map((group) => group.padStart(4, '0')).join('')).toBe(digits)
})

test('a key has one spelling', () => {
  const key = Buffer.alloc(32, 1).toString('base64')
  expect(isWireGuardKey(key)).toBe(true)
  const others = [
    '',
    key.slice(0, -1),
    `${key} `,
    `${key}\nPrivateKey = x`,
    // the same bytes, with a bit that base64 does not count
    `${key.slice(0, -2)}F=`,
    Buffer.alloc(31).toString('base64'),
    Buffer.alloc(33).toString('base64'),
    Buffer.alloc(32, 1).toString('hex'),
  ]
  expect(others.filter(isWireGuardKey)).toEqual([])
})

test('the first start writes a key that only its owner can read, and later ones keep it', async () => {
  expect(await readLinkState(directory)).toBeUndefined()
  const first = await loadLinkState(directory)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(first.interfaceName).toMatch(/^svc[0-9a-f]{10}$/)
  expect(isWireGuardKey(first.publicKey)).toBe(true)
  expect(await loadLinkState(directory)).toEqual(first)
})

test('a damaged file, and one that is open to others, end the start and stay as they are', async () => {
  const key = Buffer.alloc(32, 1).toString('base64')
  for (const text of [
    '',
    '{',
    'null',
    '[]',
    JSON.stringify({ private_key: key }),
    JSON.stringify({ private_key: key, interface: 'eth0' }),
    JSON.stringify({ private_key: key, interface: 'svc012345678; reboot' }),
    JSON.stringify({ private_key: 'short', interface: 'svc0123456789' }),
    JSON.stringify({ private_key: 1, interface: 'svc0123456789' }),
  ]) {
    await writeFile(path, text, { mode: 0o600 })
    const refused = await loadLinkState(directory).catch((error) => error)
    expect(refused, text).toBeInstanceOf(SettingsError)
    expect(refused.message).not.toContain(key)
    expect(await readFile(path, 'utf8')).toBe(text)
  }
  await writeFile(path, JSON.stringify({ private_key: key, interface: 'svc0123456789' }))
  await chmod(path, 0o644)
  await expect(loadLinkState(directory)).rejects.toThrow('is open to others')
})
