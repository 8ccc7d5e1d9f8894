// Files of the state directory that the relay cannot use, or that are open to others: it says which and why, and ends.

import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { loadIdentity } from '../../src/core/auth/relay-identity.ts'
import { loadCertificates } from '../../src/core/certificates/certificate-source.ts'
import { createCa } from '../../src/core/certificates/development-ca.ts'
import { createLog } from '../../src/core/log/log.ts'
import { readPolicyOf } from '../../src/core/policy/policy.ts'
import { isOpenToOthers } from '../../src/core/storage/state-file.ts'
import { readRoots } from '../../src/features/acme/roots.ts'
import { readOverlayConfig } from '../../src/features/overlay/overlay-config.ts'
import { readSettings } from '../../src/settings.ts'
import { INHERITED_ENV } from '../support/inherited-env.ts'

const ROOT_HOST = 'relay.localhost'
/** Parses as PEM, and holds nothing. */
const HOLLOW = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
/** The order of secp256k1 (SEC 2 §2.4.1): the first number that is too large for a key. */
const ORDER = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-state-'))
  await load()
})
afterEach(() => rm(directory, { recursive: true }))

const file = (name: string): string => join(directory, name)
const settings = () => readSettings({ SVC_URL: `https://${ROOT_HOST}`, IDENTITY_PATH: directory })

/** What a start reads, and makes when it is not there. */
async function load(): Promise<void> {
  await loadIdentity(directory)
  await loadCertificates(settings(), createLog('silent'))
}

test('a file that an editor has begun with a byte-order mark is read', async () => {
  const marked = async (name: string, text?: string): Promise<string> => {
    const content = text ?? (await readFile(file(name), 'utf8'))
    await writeFile(file(name), `\uFEFF${content}`)
    return file(name)
  }
  const { address } = await loadIdentity(directory)
  for (const name of ['identity.json', 'ca-key.pem', 'fullchain.pem', 'privatekey.pem']) await marked(name)
  expect((await loadIdentity(directory)).address).toBe(address)
  await loadCertificates(settings(), createLog('silent'))
  await marked('policy.json', '{"approval_mode": "manual"}')
  expect(await readPolicyOf(directory)).toMatchObject({ approval_mode: 'manual' })
  expect(await readRoots(await marked('ca.pem'))).toMatch(/^-----BEGIN/)
  const overlay = await marked('overlay.json', '{"network": "wireguard"}')
  expect(await readOverlayConfig(overlay)).toEqual({ kind: 'wireguard' })
})

describe('a broken file', () => {
  const broken: [name: string, content: string, need: RegExp][] = [
    ['fullchain.pem', 'nothing', /^fullchain\.pem: /],
    ['fullchain.pem', HOLLOW, /^fullchain\.pem: is not PEM/],
    ['privatekey.pem', 'nothing', /^privatekey\.pem: is not PEM/],
    ['ca.pem', 'nothing', /^ca\.pem: is not PEM/],
    ['ca.pem', HOLLOW, /^ca\.pem: is not PEM/],
    ['ca-key.pem', 'nothing', /^ca-key\.pem: is not PEM/],
    [
      'identity.json',
      `{"private_key":"0x${'0'.repeat(64)}"}`,
      /identity\.json: private_key is not a secp256k1 key/,
    ],
    ['identity.json', `{"private_key":"${ORDER}"}`, /identity\.json: private_key is not a secp256k1 key/],
  ]
  test.each(broken)('%s with %j is named, and stays as it is', async (name, content, need) => {
    await writeFile(file(name), content)
    await expect(load()).rejects.toMatchObject({
      name: 'SettingsError',
      message: expect.stringMatching(need),
    })
    expect(await readFile(file(name), 'utf8')).toBe(content)
  })

  test('the key of another CA is named', async () => {
    await writeFile(file('ca-key.pem'), createCa(ROOT_HOST).key)
    await expect(load()).rejects.toThrow(/^ca-key\.pem: is not the key of ca\.pem/)
  })

  test('a directory in its place is named', async () => {
    await rm(file('identity.json'))
    await mkdir(file('identity.json'), { mode: 0o700 })
    await expect(load()).rejects.toThrow(`${file('identity.json')}: cannot be read: `)
  })

  test('ends the process with one line and no stack', async () => {
    await writeFile(file('ca-key.pem'), 'nothing')
    const main = join(import.meta.dirname, '../../src/main.ts')
    const env = { ...INHERITED_ENV, SVC_URL: `https://${ROOT_HOST}:4433`, IDENTITY_PATH: directory }
    const ended = promisify(execFile)(process.execPath, [main], { env, timeout: 60_000 })
    await expect(ended).rejects.toMatchObject({ code: 1, stderr: 'svc-relay: ca-key.pem: is not PEM\n' })
  })
})

describe.skipIf(process.platform === 'win32')('a secret that others may read', () => {
  test.each(['identity.json', 'privatekey.pem', 'ca-key.pem'])('%s is refused', async (name) => {
    for (const mode of [0o604, 0o640, 0o620, 0o601]) {
      await chmod(file(name), mode)
      await expect(load()).rejects.toMatchObject({
        name: 'SettingsError',
        message: `${file(name)}: is open to others: run chmod 600 ${file(name)}`,
      })
    }
    await chmod(file(name), 0o400)
    await load()
  })

  test('is taken of root by a group, whose file it is not', async () => {
    const found = (mode: number, uid: number) => ({ mode: 0o100000 | mode, uid })
    const SERVICE = 1000
    expect(isOpenToOthers(found(0o640, 0), SERVICE)).toBe(false)
    expect(isOpenToOthers(found(0o440, 0), SERVICE)).toBe(false)
    expect(isOpenToOthers(found(0o644, 0), SERVICE)).toBe(true)
    expect(isOpenToOthers(found(0o660, 0), SERVICE)).toBe(true)
    expect(isOpenToOthers(found(0o640, SERVICE), SERVICE)).toBe(true)
    expect(isOpenToOthers(found(0o640, 0), 0)).toBe(true)
    expect(isOpenToOthers(found(0o600, 0), 0)).toBe(false)
  })
})
