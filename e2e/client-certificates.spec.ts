// A page that asks its visitors for client certificates, which the browser's WebCrypto verifies.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { curl } from '../tools/programs/curl.ts'
import { TestAuthority } from '../tools/tls/test-authority.ts'
import { expect, test } from './fixtures.ts'

test('a page serves visitors who have one, and no others', async ({ relay, tenant }) => {
  const folder = await mkdtemp(join(tmpdir(), 'client-certificates-'))
  const root = TestAuthority.root({ key: 'RSA-2048', signature: 'pss-sha256' })
  const middle = root.intermediate({ signature: 'pss-sha256' })
  const mallory = middle.client({ name: 'Mallory' })
  const crl = root.revocationList([], { signature: 'pss-sha256' }) + middle.revocationList([mallory])
  const url = await tenant.evaluate(
    async ([relayUrl, ca, crl]) => {
      const site = await svc.publish({
        relay: relayUrl,
        name: 'mutual-page',
        fetch: (_, { clientCertificate }) => new Response(clientCertificate?.subject),
        tls: { clientCertificates: { ca, crl } },
      })
      return site.url
    },
    [relay.url, root.pem, crl] as const,
  )
  const visit = async (client: TestAuthority): Promise<string> => {
    const [certificate, key] = [join(folder, 'client.pem'), join(folder, 'client.key')]
    await writeFile(certificate, client.pem + middle.pem)
    await writeFile(key, client.keyPem)
    return String(await curl(relay.caFile, '--cert', certificate, '--key', key, url))
  }
  for (const key of ['P-256', 'P-384', 'Ed25519', 'RSA-2048'] as const)
    expect(await visit(middle.client({ name: key, key }))).toBe(`CN=${key}`)
  await expect(curl(relay.caFile, url)).rejects.toThrow(/certificate required/)
  await expect(visit(TestAuthority.root({ name: 'Other' }).client())).rejects.toThrow(/unknown ca/)
  await expect(visit(mallory)).rejects.toThrow(/certificate revoked/)
  await rm(folder, { recursive: true })
})
