// Runs `svc expose --udp` for a local UDP service that echoes, and sends it a datagram through the relay.
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import type { TestRelay } from '../../tools/relay/test-relay.ts'
import { type CommandLine, startSvc } from './commands.ts'

/** Milliseconds between two attempts: the tunnel may open after the port, and UDP loses what comes too early. */
const RETRY_MS = 500
const ATTEMPTS = 20
const PAYLOAD = 'echo'

/** @throws Error when no echo comes back */
export async function proveUdp(line: CommandLine, relay: TestRelay): Promise<string> {
  const service = await bound()
  service.on('message', (payload, { port, address }) => service.send(payload, port, address))
  const visitor = await bound()
  const svc = startSvc(line, relay, ['expose', '--udp', String(service.address().port), '--name', 'echo'])
  try {
    const address = await svc.online
    await echo(visitor, Number(new URL(address).port))
    return `${address} answers`
  } finally {
    await svc.stop()
    service.close()
    visitor.close()
  }
}

async function echo(visitor: Socket, port: number): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    visitor.send(PAYLOAD, port, '127.0.0.1')
    const signal = AbortSignal.timeout(RETRY_MS)
    const [payload] = await once(visitor, 'message', { signal }).catch(() => [])
    if (String(payload) === PAYLOAD) return
  }
  throw new Error(`no echo from UDP port ${port} within ${(ATTEMPTS * RETRY_MS) / 1000} s`)
}

async function bound(): Promise<Socket> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return socket
}
