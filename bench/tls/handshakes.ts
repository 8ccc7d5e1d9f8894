// Handshakes that the server can do in a second of its processor, by our engine and by node:tls, with the same client.
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { alternate } from '../lib/alternate.ts'
import { cpuSeconds } from '../lib/clock.ts'
import { compared, type Entry } from '../lib/entry.ts'
import { ClientProcess } from './client.ts'
import type { Identity } from './identity.ts'
import { nodeServer, ourServer, type Server } from './servers.ts'

const HANDSHAKES = 300
const CONCURRENCY = 4
const KINDS = [
  { name: 'full handshakes, X25519', group: 'X25519', resume: false, target: 0.5 },
  { name: 'full handshakes, X25519MLKEM768', group: 'X25519MLKEM768', resume: false, target: 0.5 },
  { name: 'resumed handshakes, X25519', group: 'X25519', resume: true, target: 0.6 },
]

export async function* handshakes(identity: Identity, runs: number): AsyncGenerator<Entry> {
  const client = new ClientProcess()
  const ports = await Promise.all([listen(ourServer(identity)), listen(nodeServer(identity))])
  for (const { name, target, ...kind } of KINDS) {
    const run = async (port: number): Promise<number> => {
      const job = {
        kind: 'handshakes',
        port,
        ca: identity.certificate,
        count: HANDSHAKES,
        concurrency: CONCURRENCY,
      }
      let resumed = 0
      const seconds = await cpuSeconds(async () => {
        resumed = (await client.run({ ...job, ...kind } as const as never)).count
      })
      if (resumed !== (kind.resume ? HANDSHAKES : 0)) throw new Error(`${resumed} handshakes were resumed`)
      return HANDSHAKES / seconds
    }
    const { ours, theirs } = await alternate(runs, { ours: () => run(ports[0]), theirs: () => run(ports[1]) })
    yield compared({ name, unit: 'per CPU s', better: 'more', peer: 'node:tls', target }, ours, theirs)
  }
  client.stop()
}

async function listen(server: Server): Promise<number> {
  const listener = createServer((socket) => server(socket, () => {})).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  listener.unref()
  return (listener.address() as AddressInfo).port
}
