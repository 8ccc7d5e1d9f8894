// A person in Chromium with a client certificate: the browser has it in its store, and shows it to a site that asks.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { promisify } from 'node:util'
import type { BrowserType } from '@playwright/test'
import { expose } from '@svc/sdk-node'
import { chromiumOptions, createHome } from '../tools/browser/chromium.ts'
import { atDepth } from '../tools/test-depth.ts'
import { TestAuthority } from '../tools/tls/test-authority.ts'
import { expect, test } from './fixtures.ts'

const run = promisify(execFile)
/** Whether a certificate of another authority is tried: beside browsers, other clients try it each time. */
const IS_THOROUGH: boolean = atDepth(true, false)

/** Puts the client's certificate and key into the browser's store. */
async function store(home: string, { pem, keyPem }: TestAuthority): Promise<void> {
  const [certificate, key, bundle] = ['pem', 'key', 'p12'].map((end) => path.join(home, `client.${end}`))
  await writeFile(certificate!, pem)
  await writeFile(key!, keyPem)
  const both = ['-in', certificate!, '-inkey', key!, '-out', bundle!]
  await run('openssl', ['pkcs12', '-export', ...both, '-passout', 'pass:', '-name', 'client'])
  await run('pk12util', ['-d', `sql:${home}/.pki/nssdb`, '-i', bundle!, '-W', '', '-K', ''])
}

/**
 * Opens the site in a browser of its own.
 * @param client whose certificate the browser has
 * @returns the text of the page, or the error of the connection
 */
async function visit(
  chromium: BrowserType,
  { caFile, url, client }: { caFile: string; url: string; client: TestAuthority | undefined },
): Promise<string> {
  const home = await createHome(caFile)
  const profile = path.join(home.path, 'profile')
  if (client) await store(home.path, client)
  await mkdir(path.join(profile, 'Default'), { recursive: true })
  // As if the person had chosen the certificate in the browser's dialog, which no test can press.
  const chosen = { [`${url},*`]: { setting: { filters: [{}] } } }
  const exceptions = { auto_select_certificate: chosen }
  const preferences = { profile: { content_settings: { exceptions } } }
  await writeFile(path.join(profile, 'Default/Preferences'), JSON.stringify(preferences))
  const context = await chromium.launchPersistentContext(profile, chromiumOptions(home.path))
  try {
    const page = await context.newPage()
    const answer = await page.goto(url).catch((error: Error) => error)
    return answer instanceof Error ? answer.message : await answer!.text()
  } finally {
    await context.close()
    await home.remove()
  }
}

test('a browser with a certificate comes in, and others see why they do not', async ({
  relay,
  playwright: { chromium },
}) => {
  const authority = TestAuthority.root()
  const target = createServer(({ headers }, response) => response.end(`hello ${headers['x-client-cert']}`))
  await once(target.listen(0, '127.0.0.1'), 'listening')
  const exposure = await expose({
    relay: relay.url,
    ca: await readFile(relay.caFile, 'utf8'),
    name: 'mutual',
    identity: new Uint8Array(32).fill(12),
    http: (target.address() as AddressInfo).port,
    clientCertificates: { ca: authority.pem },
  })
  const { url } = exposure.sites[0]!
  const asked = { caFile: relay.caFile, url }
  try {
    const alice = authority.client({ name: 'Alice' })
    const text = await visit(chromium, { ...asked, client: alice })
    expect(text).toBe(`hello :${Buffer.from(alice.der).toString('base64')}:`)
    expect(await visit(chromium, { ...asked, client: undefined })).toMatch(/ERR_BAD_SSL_CLIENT_AUTH_CERT/)
    if (!IS_THOROUGH) return
    // The site names its authority, so that the browser offers no certificate of another one.
    const mallory = TestAuthority.root({ name: 'Other' }).client({ name: 'Mallory' })
    expect(await visit(chromium, { ...asked, client: mallory })).toMatch(/ERR_BAD_SSL_CLIENT_AUTH_CERT/)
  } finally {
    await exposure.close()
    target.close()
  }
})
