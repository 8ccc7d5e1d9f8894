// A relay that gets another certificate and restarts: the visitors of its sites do not notice.

import { execFileSync } from 'node:child_process'
import { rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, it as every, expect, vi } from 'vitest'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { publish, type Site } from '../../src/index.ts'
import { visit } from '../support/exposed.ts'
import { startTestRelay } from '../support/relay.ts'

const it = wholeOnly(every, 'clock')

let site: Site
let log = ''
const relay = useStarted(() => startTestRelay({}, (line) => (log += line)))
beforeAll(async () => {
  site = await publishAs('rotation')
})
afterAll(() => site.close())

function publishAs(name: string): Promise<Site> {
  const identity = crypto.getRandomValues(new Uint8Array(32))
  const options = { name, identity, certificate: 'shared' } as const
  return publish({ relay: relay.origin, ca: relay.ca, ...options, fetch: () => new Response('hello') })
}

/** Another key and certificate in the relay's files, which its own CA issues. */
async function install(
  newKey: readonly string[] = ['ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'],
): Promise<void> {
  const path = (name: string): string => join(dirname(relay.caFile), name)
  const openssl = (...args: string[]): unknown => execFileSync('openssl', args, { stdio: 'ignore' })
  openssl(
    'req',
    '-new',
    '-nodes',
    '-newkey',
    ...newKey,
    '-subj',
    '/CN=x',
    '-keyout',
    path('new-key'),
    '-out',
    path('request'),
  )
  await writeFile(path('names'), 'subjectAltName=DNS:relay.localhost,DNS:*.relay.localhost')
  const ca = ['-CA', relay.caFile, '-CAkey', path('ca-key.pem'), '-CAcreateserial']
  const names = ['-extfile', path('names'), '-days', '90']
  openssl('x509', '-req', '-in', path('request'), ...ca, ...names, '-out', path('new-chain'))
  await rename(path('new-chain'), path('fullchain.pem'))
  await rename(path('new-key'), path('privatekey.pem'))
}

/** Installs them in the relay that runs, which takes them. */
async function reload(newKey?: readonly string[]): Promise<void> {
  log = ''
  await install(newKey)
  await vi.waitUntil(() => log.includes('certificates reloaded'))
}

async function restart(meanwhile: () => Promise<void> = async () => {}): Promise<void> {
  await relay.kill()
  await meanwhile()
  await relay.start()
  await vi.waitUntil(() => site.state === 'reconnecting')
  await vi.waitUntil(() => site.state === 'online')
}

it('loses one visitor at most when the files were replaced while the relay was down', async () => {
  await restart(() => install())
  await visit(relay, site.url).catch(() => {})
  const next = async (): Promise<void> => expect((await visit(relay, site.url)).statusCode).toBe(200)
  await vi.waitFor(next)
})

it('serves every visitor when the relay restarts after it has taken another certificate', async () => {
  await reload()
  await restart()
  for (let visitor = 0; visitor < 3; visitor++) expect((await visit(relay, site.url)).statusCode).toBe(200)
})

it.each([
  ['rsa', ['rsa:2048']],
  ['ed25519', ['ed25519']],
])('serves with a key of type %s in the relay of a developer', async (type, newKey) => {
  await reload(newKey)
  const own = await publishAs(type)
  const response = await visit(relay, own.url)
  expect(response.statusCode).toBe(200)
  const leaf = (response.socket as TLSSocket).getPeerX509Certificate()!
  expect(leaf.publicKey.asymmetricKeyType).toBe(type)
  expect(leaf.subjectAltName).toContain(`DNS:${type}.relay.localhost, `)
  await own.close()
})
