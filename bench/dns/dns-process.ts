// Our DNS server as a program, with the relay's pipe in its main thread where it has a bridge: `dns-process.ts BRIDGE_TO`.
import { createECDH } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { addressData, startDnsServer, TYPE, textData, type ZoneChange } from '@svc/dns'
import { createPipe } from '../../relay/src/core/bridge/pipe.ts'
import { SharedReadBuffer } from '../../relay/src/core/node-internals/shared-read-buffer.ts'
import { Bandwidth } from '../../relay/src/core/rate-limit/bandwidth.ts'
import { APEX } from './servers.ts'

const HOST = '127.0.0.1'
const SOCKET = { allowHalfOpen: true, noDelay: true } as const
const NO_RATE = { perSecond: 1e9, burst: 1e9 }
/** Milliseconds after which memory is weighed. */
const SETTLE_MS = 2000
const ENS_TEXT = `ENS1 0x238A8F792dFA6033814B18618aD4100654aeef01 0x${'ab'.repeat(20)}`

const [bridgeTo = '0'] = process.argv.slice(2)
const curve = createECDH('prime256v1')
const publicKey = curve.generateKeys('hex').slice(2)
const privateKey = curve.getPrivateKey('hex').padStart(64, '0')
const server = await startDnsServer({
  zone: { key: { zone: APEX, privateKey, publicKey }, hasDefaultPort: true },
  addresses: [{ host: HOST, port: 0 }],
  records: () => [APEX, `*.${APEX}`, `www.${APEX}`].map(addressOf),
  rates: { name: NO_RATE, network: NO_RATE, proven: NO_RATE },
  setting: 'addresses',
  code: { script: new URL(import.meta.resolve('@svc/dns/thread')), options: {} },
  log: { info() {}, error() {} },
})
process.on('SIGTERM', () => process.exit())
process.on('message', async ({ names }: { names: number }) => {
  await pause(SETTLE_MS)
  const before = process.memoryUsage().rss
  // Leases come one after another.
  for (const change of leases(names)) await server.apply([change])
  await pause(SETTLE_MS)
  process.send!({ bytes: process.memoryUsage().rss - before })
})
process.send!({
  port: server.bound[0]!.port,
  bridge: bridgeTo === '0' ? undefined : await listen(Number(bridgeTo)),
})

function addressOf(name: string): ZoneChange {
  return { kind: 'set', name, type: TYPE.A, ttl: 60, data: [addressData('192.0.2.1')] }
}

/** What ENS wants of each lease. */
function* leases(count: number): Generator<ZoneChange> {
  for (let index = 0; index < count; index++) {
    const name = `lease-${index}-${(index * 7919).toString(36)}.${APEX}`
    yield { kind: 'set', name, type: TYPE.TXT, ttl: 60, data: [textData(ENS_TEXT)] }
  }
}

async function listen(to: number): Promise<number> {
  const pipe = createPipe(await SharedReadBuffer.find())
  const unlimited = new Bandwidth(() => 0)
  const bridge = createServer(SOCKET, async (visitor) => {
    visitor.on('error', () => {})
    const service = connect({ ...SOCKET, host: HOST, port: to })
    service.on('error', () => {})
    await once(service, 'connect')
    await pipe(visitor, service, unlimited).catch(() => visitor.destroy())
  }).listen(0, HOST)
  await once(bridge, 'listening')
  return (bridge.address() as AddressInfo).port
}
