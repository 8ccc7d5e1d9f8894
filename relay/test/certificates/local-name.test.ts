// A relay below `.local` has a CA of its own, unless its operator has another certificate.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findCertificateSource } from '../../src/core/certificates/certificate-source.ts'
import { createCa, createLeaf } from '../../src/core/certificates/development-ca.ts'
import { hstsOf } from '../../src/core/http/hsts.ts'

type Settings = Parameters<typeof findCertificateSource>[0]

async function at(
  rootHost: string,
  files: Record<string, string> = {},
  isAcmeAgreed = false,
): Promise<Settings> {
  const identityPath = await mkdtemp(join(tmpdir(), 'svc-local-'))
  onTestFinished(() => rm(identityPath, { recursive: true }))
  for (const [name, content] of Object.entries(files))
    await writeFile(join(identityPath, name), content, { mode: 0o600 })
  return { rootHost, identityPath, isAcmeAgreed } as Settings
}

test('there it is made, and a public name needs another', async () => {
  expect(await findCertificateSource(await at('svc-laptop.local'))).toEqual({ kind: 'development' })
  await expect(findCertificateSource(await at('svc-laptop.example'))).rejects.toThrow('ACME_AGREE')
  await expect(findCertificateSource(await at('notlocal'))).rejects.toThrow('ACME_AGREE')
})

test('its own certificate of before is no other', async () => {
  const { chain, key } = createLeaf(createCa('svc-laptop.local'), 'svc-laptop.local')
  const settings = await at('svc-laptop.local', { 'fullchain.pem': chain, 'privatekey.pem': key })
  expect(await findCertificateSource(settings)).toEqual({ kind: 'development' })
})

test('an operator’s files, and ACME, come first', async () => {
  const { chain } = createLeaf(createCa('svc-laptop.local'), 'svc-laptop.local')
  // The CA's own certificate is not one that the relay would have there.
  const ofOther = chain.slice(chain.indexOf('-----BEGIN', 1))
  await expect(
    findCertificateSource(await at('svc-laptop.local', { 'fullchain.pem': ofOther })),
  ).rejects.toThrow('fullchain.pem and privatekey.pem')
  expect(await findCertificateSource(await at('svc-laptop.local', {}, true))).toMatchObject({
    kind: 'managed',
  })
})

test('browsers are not told to keep to https there: the name is another machine’s in the next network', () => {
  expect(hstsOf('svc-laptop.local')).toBeUndefined()
  expect(hstsOf('local.example')).toBeDefined()
})
