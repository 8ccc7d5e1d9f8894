// A relay on a fresh directory gets its certificate from pebble by itself, proves names to nobody else, and serves nobody before.

import { chmod, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DER_OID, DER_TAG, encodeDer, encodeExtension, encodeName } from '@svc/tls/der'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type AcmeServer, hasAcmeServer, startAcmeServer } from '../../../../tools/programs/pebble.ts'
import { atDepth, wholeOnly } from '../../../../tools/test-depth.ts'
import { checkCertificate } from '../../../src/cli/check/certificate.ts'
import { buildCertificate, issuerOf } from '../../../src/core/certificates/certificate-builder.ts'
import { createCa, createLeaf } from '../../../src/core/certificates/development-ca.ts'
import { askHealth } from '../../../src/core/check/health.ts'
import { RELOAD_DELAY_MS } from '../../../src/core/reload.ts'
import { readSettings, startRelay } from '../../../src/index.ts'
import { UPGRADE_HEADERS } from '../../support/api-socket.ts'
import { relayClient } from '../../support/relay.ts'
import { nativeSession, type TestSession } from '../../support/session.ts'
import {
  ACME_HOST,
  type AcmeRelay,
  acmeEnv,
  askChallenge,
  collectingLog,
  firstAnswer,
  freePort,
  newDirectory,
  serialOf,
  startAcmeRelay,
  statusOf,
  waitFor,
} from './acme-relay.ts'
import { newKey, publicKeyOf } from './keys.ts'

/** A certificate of an operator, with less than a third of its lifetime left. */
function oldLeafFor(key: string): string {
  const name = encodeDer(DER_TAG.sequence, encodeDer(DER_TAG.dnsName, Buffer.from(ACME_HOST)))
  return buildCertificate({
    issuer: issuerOf(createCa(ACME_HOST)),
    subject: encodeName('operator'),
    publicKey: publicKeyOf(key),
    days: 0.01,
    extensions: [encodeExtension(DER_OID.subjectAltName, name)],
  })
}

/** What a session gets until one of the two protocols is offered in it. */
async function untilOffer({ read }: TestSession): Promise<string> {
  let text = ''
  while (!/acme-tls\/1|http\/1\.1/.test(text)) {
    const byte = await read(1)
    if (byte.length === 0) throw new Error('the session ended')
    text += byte.toString('latin1')
  }
  return text
}

/** A lock that another relay, of another machine, has just taken. */
function foreignLock(): string {
  return `${JSON.stringify({ host: 'another.example', pid: 1, id: 'other' })}\n`
}

describe.skipIf(!hasAcmeServer())('a relay with ACME', () => {
  let acme: AcmeServer
  let port: number
  let directory: string
  let remove: () => Promise<void>
  const relays: AcmeRelay[] = []

  beforeAll(async () => {
    port = await freePort()
    acme = await startAcmeServer({ tlsPort: port, hosts: [ACME_HOST], validityS: 60, nonceRejectPercent: 20 })
  })
  beforeEach(async () => {
    ;({ directory, remove } = await newDirectory())
  })
  afterEach(async () => {
    await Promise.all(relays.splice(0).map((relay) => relay.close()))
    await remove()
  })
  afterAll(() => acme.close())

  const start = async (env: Record<string, string> = {}): Promise<AcmeRelay> => {
    const relay = await startAcmeRelay(acme, port, directory, env)
    relays.push(relay)
    return relay
  }
  const modeOf = async (name: string): Promise<number> => (await stat(join(directory, name))).mode & 0o777
  const messages = ({ log }: AcmeRelay): unknown[] => log.map(({ msg }) => msg)

  test('serves with a certificate that clients verify, and keeps it over a restart', async () => {
    const metricsPort = await freePort()
    const relay = await start({ METRICS_ADDR: `${metricsPort}` })
    await firstAnswer(port)
    expect(await statusOf(port, await acme.root())).toBe(200)
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    expect(metrics).toMatch(/^svc_relay_acme_orders_total\{host_kind="root",result="issued"\} [1-9]/m)
    expect(metrics).toMatch(/^svc_relay_certificate_expiry_seconds\{host_kind="root"\} [1-9]/m)
    expect(metrics).not.toContain('host_kind="wildcard"')
    for (const name of ['acme-account.key', 'acme-registration.json', 'fullchain.pem', 'privatekey.pem'])
      expect([name, await modeOf(name)]).toEqual([name, 0o600])
    expect(messages(relay)).toContain('the relay has its first certificate')
    const before = await serialOf(port)
    await relay.close()
    const again = await start()
    expect(await serialOf(port)).toBe(before)
    expect(messages(again)).not.toContain('account made at the ACME authority')
  })

  test('until then refuses everybody with an alert, and says so to the one who asks for its health', async () => {
    await acme.kill()
    try {
      const relay = await start()
      await expect(statusOf(port)).rejects.toThrow(/alert internal error/)
      const health = await askHealth(readSettings(acmeEnv(acme, port, directory)))
      expect(health.isServing).toBe(false)
      expect(health.message).toContain('it listens, and has no certificate yet')
      await waitFor(() => relay.log.some(({ reason }) => /cannot be reached/.test(`${reason}`)))
      expect(await readdir(directory)).not.toContain('fullchain.pem')
    } finally {
      await acme.restart()
    }
  })

  test.each(atDepth(['1', '2'], ['2']))(
    'with SVC_WORKERS=%s answers acme-tls/1 for no name that is not just being proven, and never lets it reach a site',
    async (workers) => {
      await start({ SVC_WORKERS: workers })
      await firstAnswer(port)
      const client = relayClient(port, await acme.root(), ACME_HOST)
      const site = await client.register('site')
      const session = await nativeSession(client, site.reverse_endpoint.capability, UPGRADE_HEADERS)
      try {
        for (const name of [ACME_HOST, site.hostname, site.canonical_hostname, 'other.example'])
          expect(await askChallenge(port, name)).toMatch(/alert no application protocol/)
        expect(await askChallenge(port, ACME_HOST, 'http/1.1')).toMatch(/ALPN protocol: http\/1\.1/)
        // The first connection that the site gets is the one after them.
        const visitor = client.tls(site.hostname, { ALPNProtocols: ['http/1.1'] })
        expect(await untilOffer(session)).toMatch(/http\/1\.1$/)
        visitor.destroy()
      } finally {
        session.abort()
      }
    },
  )

  test('with several processes proves its name in the first, whichever has the connection', async () => {
    await start({ SVC_WORKERS: '2' })
    await firstAnswer(port)
    for (let look = 0; look < 6; look++) {
      expect(await statusOf(port, await acme.root())).toBe(200)
      expect(await askChallenge(port, ACME_HOST)).toMatch(/alert no application protocol/)
    }
  })

  test('uses valid files of the operator as long as there is no account, and else keeps copies of them', async () => {
    const leaf = createLeaf(createCa(ACME_HOST), ACME_HOST)
    const write = async (chain: string, key: string): Promise<void> => {
      // As certbot's hook in docs/operate/certificates.md installs them.
      await writeFile(join(directory, 'fullchain.pem'), chain, { mode: 0o644 })
      await writeFile(join(directory, 'privatekey.pem'), key, { mode: 0o600 })
    }
    await write(leaf.chain, leaf.key)
    const manual = await start()
    await firstAnswer(port)
    expect(await readdir(directory)).not.toContain('acme-account.key')
    await manual.close()
    const foreign = createLeaf(createCa('other.test'), 'other.test')
    await write(foreign.chain, foreign.key)
    await start()
    await firstAnswer(port)
    expect(await statusOf(port, await acme.root())).toBe(200)
    expect(await readFile(join(directory, 'operator-privatekey.pem'), 'utf8')).toBe(foreign.key)
    expect(await modeOf('operator-privatekey.pem')).toBe(0o600)
  })

  test('renews although somebody opened its files to others while it runs', async () => {
    const key = newKey()
    const leaf = oldLeafFor(key)
    await writeFile(join(directory, 'fullchain.pem'), leaf, { mode: 0o644 })
    await writeFile(join(directory, 'privatekey.pem'), key, { mode: 0o600 })
    await writeFile(join(directory, 'acme-account.key'), newKey(), { mode: 0o600 })
    // The order begins when the relay is there, which is after this.
    await writeFile(join(directory, 'acme.lock'), foreignLock(), { mode: 0o600 })
    const relay = await start()
    await chmod(join(directory, 'privatekey.pem'), 0o644)
    await rm(join(directory, 'acme.lock'))
    await waitFor(() => messages(relay).includes('certificate renewed'))
    expect(await modeOf('privatekey.pem')).toBe(0o600)
    const reasons = relay.log.map(({ reason }) => `${reason}`)
    expect(reasons.filter((reason) => /privatekey\.pem: is open to others/.test(reason))).toHaveLength(1)
  })

  test('with an account renews whatever is in the files, and reads them no more while it runs', async () => {
    const relay = await start()
    await firstAnswer(port)
    await relay.close()
    const key = newKey()
    await writeFile(join(directory, 'fullchain.pem'), oldLeafFor(key))
    await writeFile(join(directory, 'privatekey.pem'), key)
    const again = await start()
    await waitFor(() => messages(again).includes('certificate renewed'))
    await writeFile(join(directory, 'fullchain.pem'), 'not PEM')
    await new Promise((resolve) => setTimeout(resolve, 2 * RELOAD_DELAY_MS))
    expect(await statusOf(port, await acme.root())).toBe(200)
    expect(messages(again).filter((message) => /cannot be (?:read|used)/.test(`${message}`))).toEqual([])
  })

  test.each(['acme-account.key', 'acme-registration.json'])(
    'with %s orders a certificate in place of valid files of the operator, keeps copies of them, and says so',
    async (name) => {
      const { chain, key } = createLeaf(createCa(ACME_HOST), ACME_HOST)
      await writeFile(join(directory, 'fullchain.pem'), chain)
      await writeFile(join(directory, 'privatekey.pem'), key, { mode: 0o600 })
      await writeFile(join(directory, name), name.endsWith('.key') ? newKey() : '{}', { mode: 0o600 })
      const check = async (): Promise<string> => {
        const found = await checkCertificate(readSettings(acmeEnv(acme, port, directory)))
        return found.map(({ status, message }) => `${status} ${message}`).join(' ')
      }
      expect(await check()).toMatch(
        /^warning fullchain\.pem is not the certificate that the relay got by ACME/,
      )
      const relay = await start()
      // Visitors are served meanwhile.
      expect(await statusOf(port)).toBe(200)
      await waitFor(() => messages(relay).includes('certificate renewed'))
      expect(await statusOf(port, await acme.root())).toBe(200)
      expect(messages(relay)).toContainEqual(
        expect.stringMatching(/^the certificate on disk is not the one that the relay got by ACME/),
      )
      expect(await readFile(join(directory, 'operator-fullchain.pem'), 'utf8')).toBe(chain)
      expect(await readFile(join(directory, 'operator-privatekey.pem'), 'utf8')).toBe(key)
      expect(await check()).not.toContain('is not the certificate')
      await relay.close()
      const again = await start()
      expect(messages(again).filter((message) => /on disk/.test(`${message}`))).toEqual([])
    },
  )

  wholeOnly(test, 'variant')(
    'a certificate of an earlier release, which wrote no hash of it, is kept',
    async () => {
      const relay = await start()
      await firstAnswer(port)
      await relay.close()
      const file = join(directory, 'acme-directory.json')
      const { acmeDirectory } = JSON.parse(await readFile(file, 'utf8'))
      await writeFile(file, JSON.stringify({ acmeDirectory }))
      const again = await start()
      expect(messages(again).filter((message) => /on disk/.test(`${message}`))).toEqual([])
    },
  )

  test('with ACME_CHALLENGE=auto says why it proves names by tls-alpn-01', async () => {
    const dnsPort = await freePort()
    const relay = await start({
      ACME_CHALLENGE: 'auto',
      DNS_ADDR: `127.0.0.1:${dnsPort}`,
      PUBLIC_IPS: '127.0.0.1',
    })
    await firstAnswer(port)
    const said = () => relay.log.filter(({ msg }) => /^ACME_CHALLENGE=auto/.test(`${msg}`))
    // At the start it waits for the DNS for a moment alone, and may say that first.
    await waitFor(() => /does not delegate/.test(`${said().at(-1)?.reason}`))
    for (const { msg } of said())
      expect(msg).toBe('ACME_CHALLENGE=auto proves names by tls-alpn-01, which gives no wildcard certificate')
    expect(said().at(-1)!.reason).toBe(
      `the public DNS does not delegate ${ACME_HOST} to this relay's name server`,
    )
  })

  test('does not start without consent where it would need ACME, and says both ways out', async () => {
    const settings = (env: Record<string, string> = {}) =>
      readSettings({ ...acmeEnv(acme, port, directory), ACME_AGREE: 'false', ...env })
    const { log } = collectingLog()
    await expect(startRelay(settings(), log)).rejects.toThrow(
      `${directory}: needs fullchain.pem and privatekey.pem for ${ACME_HOST}; ACME_AGREE=true lets the relay get a certificate by ACME`,
    )
    const relay = await start()
    await firstAnswer(port)
    await relay.close()
    await expect(startRelay(settings(), log)).rejects.toThrow(
      /^ACME_AGREE: must be true, since .* has an ACME account/,
    )
  })

  test('takes a pair whose writing a crash interrupted', async () => {
    const relay = await start()
    await firstAnswer(port)
    const before = await serialOf(port)
    await relay.close()
    const [chain, key] = await Promise.all(
      ['fullchain.pem', 'privatekey.pem'].map((name) => readFile(join(directory, name), 'utf8')),
    )
    // The key was replaced already, and the chain was not.
    await writeFile(join(directory, 'acme-certificate.json'), JSON.stringify({ chain, key }), { mode: 0o600 })
    const older = createLeaf(createCa(ACME_HOST), ACME_HOST)
    await writeFile(join(directory, 'fullchain.pem'), older.chain)
    await start()
    expect(await serialOf(port)).toBe(before)
    expect(await readFile(join(directory, 'fullchain.pem'), 'utf8')).toBe(chain)
    expect(await readdir(directory)).not.toContain('acme-certificate.json')
  })
})
