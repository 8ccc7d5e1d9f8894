// Bytes of one question over HTTPS to a real relay, as a TCP proxy counts them: each question has a connection of its own.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type LookupFunction } from 'node:net'
import { PATH } from '@svc/protocol'
import { HttpClient } from '../../relay/src/core/outbound/http-client.ts'
import { BenchRelay } from '../carrier/relay.ts'

const HOST = '127.0.0.1'
const QUESTIONS = 20
const ENV = { DISCOVERY: 'true', DISCOVERY_ALLOW_LOOPBACK_FOR_TESTS: 'true' }
const lookup: LookupFunction = (_name, { all }, found) =>
  all ? found(null, [{ address: HOST, family: 4 }]) : found(null, HOST, 4)

/** Returns the bytes that TCP carries for one question, both ways, beside the bodies. */
export async function bytesBesideBodies(): Promise<number> {
  let bytes = 0
  let port = 0
  const proxy = createServer((client) => {
    const relay = connect(port, HOST)
    for (const [from, to] of [
      [client, relay],
      [relay, client],
    ] as const) {
      from.on('data', (chunk) => (bytes += chunk.length)).pipe(to)
      from.on('error', () => to.destroy())
    }
  }).listen(0, HOST)
  await once(proxy, 'listening')
  const relay = await BenchRelay.start({ publicPort: (proxy.address() as AddressInfo).port, env: ENV })
  port = relay.port
  try {
    const client = new HttpClient({ configuredOrigins: [relay.url], ca: await relay.ca(), lookup })
    let bodies = 0
    for (let question = 0; question < QUESTIONS; question++) {
      const { status, body } = await client.request(`${relay.url}${PATH.discovery}?relays=own`, {
        isConfigured: true,
      })
      if (status !== 200) throw new Error(`the relay answered ${status}`)
      bodies += body.length
    }
    return (bytes - bodies) / QUESTIONS
  } finally {
    await relay.stop()
    proxy.close()
  }
}
