// Clients that know nothing newer than TLS 1.2: the relay's key signs nothing for them, a site's own key may.
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:tls'
import { expose, publish } from '@svc/sdk-node'
import { CERTIFICATE_PEM, PRIVATE_KEY_PEM } from '../sdk-core/test/support/certificate.ts'
import { freePort } from '../tools/network/free-port.ts'
import { curl } from '../tools/programs/curl.ts'
import { expect, test } from './fixtures.ts'

const TLS12 = ['--tls-max', '1.2']
const REFUSED = /protocol version/

test('are refused by a site in a page, by a site in Node and by the relay itself', async ({
  relay,
  tenant,
}) => {
  const inPage = await tenant.evaluate(async (relayUrl) => {
    return (await svc.publish({ relay: relayUrl, name: 'tls13-page', fetch: () => new Response('hi') })).url
  }, relay.url)
  const inNode = await publish({
    relay: relay.url,
    name: 'tls13-node',
    ca: await readFile(relay.caFile, 'utf8'),
    identity: crypto.getRandomValues(new Uint8Array(32)),
    fetch: () => new Response('hi'),
  })
  for (const url of [inPage, inNode.url, `${relay.url}/sdk/domain`]) {
    await expect(curl(relay.caFile, ...TLS12, url)).rejects.toThrow(REFUSED)
    expect(String(await curl(relay.caFile, url))).not.toBe('')
  }
  await inNode.close()
})

test('cannot be asked for with the certificate of the relay, and the page is told why', async ({
  relay,
  tenant,
}) => {
  const refusal = await tenant.evaluate(async (relayUrl) => {
    const options = { relay: relayUrl, name: 'tls12', fetch: () => new Response('hi') }
    return await svc
      .publish({ ...options, certificate: 'shared', tls: { minVersion: 'TLSv1.2' } })
      .then(String, ({ code, message }) => `${code}: ${message}`)
  }, relay.url)
  expect(refusal).toBe(
    'invalid_option: tls.minVersion TLSv1.2 needs certificate: own, since the relay signs TLS 1.3 only',
  )
})

test('are served by a page with a certificate of its own that asks for them', async ({ relay, tenant }) => {
  const [url, strict] = await tenant.evaluate(async (relayUrl) => {
    const publishOwn = async (name: string, minVersion: 'TLSv1.2' | undefined): Promise<string> => {
      const own = Promise.withResolvers<void>()
      const fetch = () => new Response('hi')
      const debug = ({ type }: { type: string }): void => {
        if (type === 'certificate') own.resolve()
      }
      const site = await svc.publish({ relay: relayUrl, name, fetch, debug, tls: { minVersion } })
      await own.promise
      return site.url
    }
    return Promise.all([publishOwn('tls12', 'TLSv1.2'), publishOwn('tls13', undefined)])
  }, relay.url)
  expect(String(await curl(relay.caFile, ...TLS12, url))).toBe('hi')
  expect(String(await curl(relay.caFile, '--tlsv1.3', url))).toBe('hi')
  await expect(curl(relay.caFile, ...TLS12, strict)).rejects.toThrow(REFUSED)
})

test('are served by a TLS server with a key of its own, behind the relay', async ({ relay }) => {
  const server = createServer({ cert: CERTIFICATE_PEM, key: PRIVATE_KEY_PEM }, (socket) => {
    socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${socket.getProtocol()}`)
  })
  const port = await freePort()
  server.listen(port, '127.0.0.1')
  const { sites, close } = await expose({
    relay: relay.url,
    name: 'own-key',
    ca: await readFile(relay.caFile, 'utf8'),
    identity: crypto.getRandomValues(new Uint8Array(32)),
    tls: port,
  })
  expect(String(await curl(relay.caFile, ...TLS12, '--insecure', sites[0]!.url))).toBe('TLSv1.2')
  await close()
  server.close()
})
