// The thread of the WASM client: a fault in it ends this thread, and no more than the tunnel with it.

import { parentPort, workerData } from 'node:worker_threads'
import { asSvcError, type SvcError } from '@svc/sdk-core'
import { dialQuic, type QuicConnection, type QuicTarget } from './quic.ts'
import { Transit } from './transit.ts'

export interface ThreadData {
  target: QuicTarget
  /** From visitors to the service, and back. */
  inward: SharedArrayBuffer
  outward: SharedArrayBuffer
}

/** To the thread. */
export type Order =
  | { type: 'datagram'; bytes: Uint8Array }
  | { type: 'stream'; bytes: Uint8Array }
  | { type: 'ping' }
  | { type: 'close' }

/** From the thread. */
export type Report =
  | { type: 'dialing' }
  | { type: 'ready' }
  | { type: 'failed'; code: SvcError['code']; message: string }
  | { type: 'datagram'; bytes: Uint8Array }
  | { type: 'stream'; bytes: Uint8Array }
  | { type: 'closed'; reason: string }

if (parentPort) await run(parentPort, workerData as ThreadData)

async function run(port: NonNullable<typeof parentPort>, { target, ...shared }: ThreadData): Promise<void> {
  const [inward, outward] = [new Transit(shared.inward), new Transit(shared.outward)]
  const report = (it: Report): void => port.postMessage(it)
  /** Of a view, what is sent would be all the memory that it is a view of. */
  const pass = (type: 'datagram' | 'stream', bytes: Uint8Array): void => {
    const copy = new Uint8Array(bytes)
    port.postMessage({ type, bytes: copy } satisfies Report, [copy.buffer])
  }
  report({ type: 'dialing' })
  try {
    const connection = await dialQuic(
      target,
      {
        datagram: (bytes) => {
          if (inward.depart()) pass('datagram', bytes)
        },
        // it is counted where the other thread sees it
        dropped: () => {},
        closed: (reason) => report({ type: 'closed', reason }),
      },
      undefined,
      'wasm',
    )
    connection.stream.on('data', (bytes: Uint8Array) => pass('stream', bytes))
    port.on('message', (order: Order) => obey(connection, order, outward))
    report({ type: 'ready' })
  } catch (error) {
    const { code, message } = asSvcError(error, 'tunnel_unreachable', 'there is no QUIC connection')
    report({ type: 'failed', code, message })
  }
}

function obey(connection: QuicConnection, order: Order, outward: Transit): void {
  if (order.type === 'datagram') {
    outward.arrive()
    connection.send(order.bytes)
  } else if (order.type === 'stream') connection.stream.write(order.bytes)
  else if (order.type === 'ping') connection.ping()
  else connection.close()
}
