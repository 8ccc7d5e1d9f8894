// The secret stays in the page: all that the relay process received and sent, before and after its own TLS, holds
// neither the tenant's traffic secrets and keys nor the plaintext, although it holds the whole session. Another site of the
// same relay has its files in the static cache meanwhile: that one's TLS the relay does end.

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Page } from '@playwright/test'
import { chromiumOptions, createHome } from '../tools/browser/chromium.ts'
import { type Capture, occurs, readTap } from '../tools/network/captured-streams.ts'
import { freePort } from '../tools/network/free-port.ts'
import { recordWire } from '../tools/network/recording-proxy.ts'
import { decrypt, helloRandom, trafficKey } from '../tools/network/tls-decryption.ts'
import { curl } from '../tools/programs/curl.ts'
import { startTestRelay, type TestRelay } from '../tools/relay/test-relay.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { expect, openTenant, test } from './fixtures.ts'

interface Logged {
  label: string
  clientRandom: string
  secret: string
}

interface Session {
  /** The request of a visitor to the site whose files the relay stores, and the content of the file. */
  stored: { asked: Buffer; answered: Buffer }
  asked: Buffer
  answered: Buffer
  secrets: Map<string, Buffer>
  toRelay: Buffer
  fromRelay: Buffer
  wire: Capture
  inside: Capture
}

for (const certificate of ['shared', 'own'] as const) {
  const each = certificate === 'shared' ? test.describe : wholeOnly(test.describe, 'variant')
  each(`with a certificate that is ${certificate}`, () => {
    let directory: string
    let session: Session

    test.beforeAll(async ({ playwright, pageServer }) => {
      directory = await mkdtemp(path.join(tmpdir(), 'svc-e2e-tap-'))
      const tapFile = path.join(directory, 'tap')
      const [publicPort, port] = [await freePort(), await freePort()]
      const relay = await startTestRelay({
        publicPort,
        port,
        env: { SVC_TAP_FILE: tapFile, STATIC_CACHE_ENABLED: 'true' },
        execArgv: ['--import', path.join(import.meta.dirname, '../tools/network/stream-tap.ts')],
      })
      const wire = await recordWire(publicPort, port)
      const home = await createHome(relay.caFile)
      const browser = await playwright.chromium.launch(chromiumOptions(home.path))
      const neighbour = await openTenant(await browser.newContext(), pageServer)
      const stored = await visitStored(neighbour, relay)
      const tenant = await openTenant(await browser.newContext(), pageServer)

      const [asked, answered] = [randomBytes(32), randomBytes(32)]
      const { url, canonicalUrl } = await tenant.evaluate(
        async ([relayUrl, answer, certificate]) => {
          const toHex = (bytes: Uint8Array): string =>
            [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
          const log: unknown[] = []
          Object.assign(globalThis, { log })
          const onSecret = (label: string, clientRandom: Uint8Array, secret: Uint8Array): void =>
            void log.push({ label, clientRandom: toHex(clientRandom), secret: toHex(secret) })
          const fetch = async (request: Request): Promise<Response> =>
            new Response((await request.text()) + answer)
          const shown = Promise.withResolvers<void>()
          if (certificate === 'shared') shown.resolve()
          const debug = ({ type }: { type: string }): void => {
            if (type === 'certificate') shown.resolve()
          }
          const options = { name: 'secret', fetch, certificate, debug, tls: { onSecret } }
          const { url, canonicalUrl } = await svc.publish({ relay: relayUrl, ...options })
          await shown.promise
          return { url, canonicalUrl }
        },
        [relay.url, answered.toString('hex'), certificate] as const,
      )
      const ask = async (of: string): Promise<void> => {
        const header = `X-Asked: ${asked.toString('hex')}`
        // HTTP/1.1 is text that is easy to look for.
        const args = ['--http1.1', '--header', header, '--data', asked.toString('hex')]
        const text = await curl(relay.caFile, ...args, of)
        expect(String(text)).toBe(asked.toString('hex') + answered.toString('hex'))
      }
      await ask(url)
      const logged = (await tenant.evaluate('log')) as Logged[]
      // Here the relay would end TLS if it had files of this site.
      await ask(canonicalUrl)

      await browser.close()
      await relay.stop()
      await wire.close()
      await home.remove()
      const connections = wire.connections()
      const clientRandom = logged[0]?.clientRandom ?? ''
      const own = connections.find(({ toRelay }) => helloRandom(toRelay).toString('hex') === clientRandom)
      if (own === undefined) throw new Error('the session is not among the recorded connections')
      session = {
        stored,
        asked,
        answered,
        secrets: new Map(logged.map(({ label, secret }) => [label, Buffer.from(secret, 'hex')])),
        ...own,
        wire: {
          name: 'wire',
          in: connections.map((one) => one.toRelay),
          out: connections.map((one) => one.fromRelay),
        },
        inside: readTap(tapFile),
      }
    })

    test.afterAll(() => rm(directory, { recursive: true }))

    test('the recording is of this session: its secrets open it', () => {
      const { secrets, toRelay, fromRelay, asked, answered } = session
      expect([...secrets.keys()]).toEqual(
        expect.arrayContaining([
          'CLIENT_HANDSHAKE_TRAFFIC_SECRET',
          'SERVER_HANDSHAKE_TRAFFIC_SECRET',
          'CLIENT_TRAFFIC_SECRET_0',
          'SERVER_TRAFFIC_SECRET_0',
        ]),
      )
      const request = String(decrypt(toRelay, secrets.get('CLIENT_TRAFFIC_SECRET_0')!))
      const response = String(decrypt(fromRelay, secrets.get('SERVER_TRAFFIC_SECRET_0')!))
      expect(request).toMatch(/^POST \/ HTTP\/1\.1\r\n/)
      expect(request).toContain(asked.toString('hex'))
      expect(response).toContain(answered.toString('hex'))
    })

    test('the recording is whole: the relay saw the handshake pass, in and out', () => {
      const { toRelay, fromRelay, wire, inside } = session
      for (const random of [helloRandom(toRelay), helloRandom(fromRelay)]) {
        expect(random.length).toBe(32)
        expect(occurs(random, inside.in)).toBe(true)
        expect(occurs(random, inside.out)).toBe(true)
      }
      // Each encrypted record of the session went through the relay.
      expect(inside.out.some((stream) => stream.includes(fromRelay))).toBe(true)
      expect(inside.in.some((stream) => stream.includes(toRelay))).toBe(true)
      // Its own TLS is removed there, and only there.
      for (const text of [
        'POST /sdk/register HTTP/1.1',
        certificate === 'own' ? 'POST /sdk/certificate HTTP/1.1' : 'POST /v1/sign HTTP/1.1',
        'siwe_signature',
        'svc.reverse.v1',
      ]) {
        expect(occurs(Buffer.from(text), inside.in), text).toBe(true)
        expect(occurs(Buffer.from(text), wire.in), text).toBe(false)
      }
    })

    test('the relay ends the TLS of a site with stored files: their plaintext is inside it', () => {
      const { stored, wire, inside } = session
      const [asked, answered] = [stored.asked, stored.answered].map((value) =>
        Buffer.from(value.toString('hex')),
      )
      expect(occurs(asked!, inside.in)).toBe(true)
      expect(occurs(answered!, inside.out)).toBe(true)
      for (const value of [asked!, answered!]) expect(occurs(value, [...wire.in, ...wire.out])).toBe(false)
    })

    for (const [where, title] of [
      ['wire', 'no secret, key or plaintext is on the wire'],
      ['inside', 'no secret, key or plaintext is inside the relay (protocol §10.2.4)'],
    ] as const) {
      test(title, () => {
        const { secrets, asked, answered } = session
        const streams = [...session[where].in, ...session[where].out]
        for (const [label, secret] of secrets) {
          expect(occurs(secret, streams), label).toBe(false)
          expect(occurs(trafficKey(secret).key, streams), `key of ${label}`).toBe(false)
        }
        // Both were sent as hexadecimal text.
        for (const [what, value] of Object.entries({ asked, answered })) {
          expect(occurs(value, streams), what).toBe(false)
          expect(occurs(Buffer.from(value.toString('hex')), streams), `${what}, as text`).toBe(false)
        }
      })
    }
  })
}

/** Publishes a site that stores a file, and visits it at the relay. */
async function visitStored(page: Page, relay: TestRelay): Promise<Session['stored']> {
  const [asked, answered] = [randomBytes(32), randomBytes(32)]
  const url = await page.evaluate(
    async ([relayUrl, content]) => {
      const cache = { files: { 'index.html': content } }
      const fetch = (): Response => new Response('live')
      const site = await svc.publish({ relay: relayUrl, name: 'stored', fetch, cache })
      while (!site.cache?.present) await new Promise((resolve) => setTimeout(resolve, 20))
      return site.canonicalUrl
    },
    [relay.url, answered.toString('hex')] as const,
  )
  const text = await curl(relay.caFile, '--http1.1', '--header', `X-Asked: ${asked.toString('hex')}`, url)
  expect(String(text)).toBe(answered.toString('hex'))
  return { asked, answered }
}

test('the search finds a value in whatever form it is sent', () => {
  const value = randomBytes(48)
  for (const before of [0, 1, 2, 7]) {
    const message = Buffer.concat([randomBytes(before), value, randomBytes(5)])
    for (const encoding of ['latin1', 'hex', 'base64', 'base64url'] as const) {
      const sent = Buffer.from(JSON.stringify({ data: message.toString(encoding) }))
      const stream = encoding === 'latin1' ? message : sent
      expect(occurs(value, [stream]), `${encoding} after ${before} bytes`).toBe(true)
      expect(occurs(randomBytes(48), [stream])).toBe(false)
    }
  }
})
