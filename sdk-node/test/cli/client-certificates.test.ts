// `svc expose --client-ca` and `client_ca` at a real relay: who gets to the server behind.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { TestAuthority } from '../../../tools/tls/test-authority.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { listening, text, visit } from '../support/exposed.ts'
import { startTestRelay } from '../support/relay.ts'
import { type Run, reported, runHere } from '../support/svc.ts'

const relay = useStarted(startTestRelay)
const root = TestAuthority.root()
const [alice, mallory] = [root.client(), root.client({ name: 'Mallory' })]
const target = createServer(({ headers }, response) => void response.end(`${headers['client-cert']}`))
let port: number
beforeAll(async () => {
  port = await listening(target)
})
afterAll(() => {
  target.close()
  target.closeAllConnections()
})

let home: string
let run: Run | undefined
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'svc-client-ca-'))
  await writeFile(join(home, 'clients.pem'), root.pem)
  await writeFile(join(home, 'revoked.pem'), root.revocationList([mallory]))
})
afterEach(async () => {
  await run?.stop()
  run = undefined
  await rm(home, { recursive: true })
})

const withCertificate = ({ pem, keyPem }: TestAuthority): { cert: string; key: string } => ({
  cert: pem,
  key: keyPem,
})
const file = (name: string): string => join(home, name)

it('admits visitors with a certificate that is not revoked', async () => {
  const options = ['--client-ca', file('clients.pem'), '--client-crl', file('revoked.pem')]
  run = runHere(home, [
    'expose',
    String(port),
    '--relay',
    relay.origin,
    '--ca',
    relay.caFile,
    '--json',
    ...options,
  ])
  const { url } = await reported(run, 'online')
  const shown = `:${Buffer.from(alice.der).toString('base64')}:`
  expect(await text(await visit(relay, url!, '/', withCertificate(alice)))).toBe(shown)
  await expect(visit(relay, url!, '/', withCertificate(mallory))).rejects.toThrow()
  await expect(visit(relay, url!)).rejects.toThrow()
})

it('svc.toml names the files beside it, and makes the certificate optional', async () => {
  const head = [`relay = "${relay.origin}"`, `ca = "${relay.caFile}"`, '[[tunnel]]', `http = ${port}`]
  const lines = [...head, 'client_ca = "clients.pem"', 'client_cert_optional = true']
  await writeFile(file('svc.toml'), lines.join('\n'))
  run = runHere(home, ['start', '--config', file('svc.toml'), '--json'])
  const { url } = await reported(run, 'online')
  expect(await text(await visit(relay, url!))).toBe('undefined')
  expect(await text(await visit(relay, url!, '/', withCertificate(alice)))).toMatch(/^:.*:$/)
  await expect(
    visit(relay, url!, '/', withCertificate(TestAuthority.root({ name: 'Other' }).client())),
  ).rejects.toThrow()
})

it.each([
  [['--client-cert-optional'], '--client-cert-optional is for --client-ca'],
  [['--client-crl', 'x.pem'], '--client-crl is for --client-ca'],
  [['--client-ca', 'nothing.pem'], 'cannot be read'],
])('%j is refused', async (options, message) => {
  run = runHere(home, ['expose', String(port), '--relay', relay.origin, '--ca', relay.caFile, ...options])
  expect(await run.ended).not.toBe(0)
  expect([...run.out, ...run.err].join('\n')).toContain(message)
})
