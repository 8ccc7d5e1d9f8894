import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SettingsError } from '../../src/core/config/settings.ts'
import { loadZoneKey } from '../../src/features/dns/zone-key-file.ts'

const ZONE = 'relay.test'
let directory = ''
let path = ''

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-zone-key-'))
  path = join(directory, 'dnssec-csk.json')
})

afterEach(() => rm(directory, { recursive: true, force: true }))

test('the key is made once, and only its owner may read it', async () => {
  const key = await loadZoneKey(directory, ZONE)
  expect(key).toMatchObject({ zone: ZONE, privateKey: /^[0-9a-f]{64}$/ })
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  const text = await readFile(path, 'utf8')
  expect(await loadZoneKey(directory, ZONE)).toEqual(key)
  expect(await readFile(path, 'utf8')).toBe(text)
})

test.skipIf(process.platform === 'win32')('a key that others may read is refused', async () => {
  await loadZoneKey(directory, ZONE)
  await chmod(path, 0o640)
  await expectRefusal(/chmod 600/)
})

test('the key of another zone is refused, and says both names', async () => {
  await loadZoneKey(directory, 'other.test')
  await expectRefusal(/key of "other\.test", and not of relay\.test/)
})

test.each([
  ['not JSON', (text: string) => text.slice(0, -5), /not JSON/],
  ['empty', () => '', /not JSON/],
  ['no object', () => 'null', /zone needs/],
  ['of another algorithm', (text: string) => text.replace('13', '15'), /algorithm needs to be 13/],
  ['without a key', (text: string) => text.replace('"private_key"', '"key"'), /private_key needs/],
  [
    'with a digit too few',
    (text: string) => text.replace(/"[0-9a-f]([0-9a-f]{63})"/, '"$1"'),
    /private_key needs/,
  ],
  ['with another digit', changeDigit, /do not belong together/],
  [
    'with a number that is no key',
    (text: string) => text.replace(/"[0-9a-f]{64}"/, `"${'f'.repeat(64)}"`),
    /do not belong/,
  ],
  ['without a public key', (text: string) => text.replace('"public_key"', '"key"'), /do not belong/],
])('a file that is %s ends the start, and stays as it is', async (_, damage, message) => {
  await loadZoneKey(directory, ZONE)
  const damaged = damage(await readFile(path, 'utf8'))
  await writeFile(path, damaged)
  await expectRefusal(message)
})

test('no message contains the key', async () => {
  const { privateKey } = await loadZoneKey(directory, 'other.test')
  const error = await loadZoneKey(directory, ZONE).catch((thrown: Error) => thrown)
  expect(String(error)).not.toContain(privateKey)
})

async function expectRefusal(message: RegExp): Promise<void> {
  const before = await readFile(path, 'utf8')
  const error = await loadZoneKey(directory, ZONE).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(SettingsError)
  expect(String(error)).toMatch(message)
  expect(String(error)).not.toContain('\n')
  expect(await readFile(path, 'utf8')).toBe(before)
}

function changeDigit(text: string): string {
  return text.replace(
    /"([0-9a-f])([0-9a-f]{63})"/,
    (_, first: string, rest: string) => `"${first === '0' ? '1' : '0'}${rest}"`,
  )
}
