// The WireGuard link and an overlay server in a process of its own, for a test that starts one on each host of its network.
// It takes commands from standard input and writes what happens to standard output, each one JSON line.

import { createServer as createTcpServer } from 'node:net'
import { createInterface } from 'node:readline'
import { OVERLAY_CONNECTIONS_MAX } from '../../src/core/config/connection-capacity.ts'
import { createLog } from '../../src/core/log/log.ts'
import { OverlayServer } from '../../src/features/overlay/overlay-server.ts'
import type { VerifiedRelay } from '../../src/features/overlay/verified-relays.ts'
import { createWireGuard } from '../../src/features/overlay/wireguard/start-wireguard.ts'

export type LinkCommand =
  | { kind: 'relays'; own: VerifiedRelay; relays: VerifiedRelay[] }
  /** Asks a peer over the overlay who this relay is. */
  | { kind: 'ask'; identity: string }
  | { kind: 'state' }
  | { kind: 'close' }

const [directory = '', listenPort = ''] = process.argv.slice(2)
const say = (event: object): void => void process.stdout.write(`${JSON.stringify(event)}\n`)
let own: VerifiedRelay | undefined
let relays: VerifiedRelay[] = []
const { network, port, publicKey, start } = await createWireGuard({
  directory,
  listenPort: Number(listenPort),
  relays: {
    [Symbol.iterator]: () => relays.values(),
    at: (origin) => relays.find((relay) => relay.origin === origin),
    keyOf: async () => undefined,
    of: (address) => relays.find((relay) => relay.address === address),
  },
  allowsLoopback: true,
  isOfSystem: () => true,
  log: createLog('silent'),
})
const server = new OverlayServer(
  network,
  {
    handlers: new Map([
      ['GET /who', (peer, _request, response) => void response.end(peer.identity)],
      [
        'GET /discovery',
        (_peer, _request, response) =>
          void response.end(
            JSON.stringify({ data: { relays: [{ ...own?.descriptor, address: own?.address }] } }),
          ),
      ],
    ]),
    upgrades: new Map(),
  },
  OVERLAY_CONNECTIONS_MAX,
  createLog('silent'),
)
// Listens on all addresses of the machine.
const other = createTcpServer((socket) => socket.end('other'))
  // A second process on the host does without.
  .on('error', () => {})
  .listen(443, '::')
await start(() => server.listen(port))
say({ kind: 'started', publicKey, isUp: network.isUp, address: network.address })

const commands: { [K in LinkCommand['kind']]: (command: Extract<LinkCommand, { kind: K }>) => unknown } = {
  relays: (command) => {
    own = command.own
    relays = command.relays
    network.follow()
  },
  ask: async ({ identity }) => {
    try {
      const socket = await network.connect(network.peerOf(identity)!)
      socket.on('error', () => {}).end('GET /who HTTP/1.1\r\nHost: overlay\r\nConnection: close\r\n\r\n')
      let answer = ''
      for await (const chunk of socket) answer += chunk
      say({ kind: 'answer', text: answer.slice(answer.indexOf('\r\n\r\n') + 4) })
    } catch (error) {
      say({ kind: 'answer', error: (error as Error).message })
    }
  },
  state: () => say({ kind: 'state', ...network.readings, all: [...network.peers()] }),
  close: async () => {
    await server.close()
    await network.close()
    other.close()
    process.stdin.destroy()
  },
}
createInterface(process.stdin).on('line', (line) => {
  const command = JSON.parse(line)
  void commands[command.kind as LinkCommand['kind']](command)
})
