// The worker thread of the WASM client: a crash ends only this thread and its tunnel.

import { parentPort, workerData } from 'node:worker_threads'
import { forATurn } from '@svc/node-kit/pauses'
import { DatagramQueue, datagramsOf } from '@svc/protocol'
import { asSvcError, type SvcError } from '@svc/sdk-core'
import { DELIVERY_PORTION, InFlightCounter } from './in-flight-counter.ts'
import { monotonic } from './monotonic.ts'
import { dialQuic, type QueueDrop, type QuicConnection, type QuicTarget } from './quic.ts'

export interface WorkerData {
  target: QuicTarget
  /** Counts datagrams from visitors to the service; the other counter counts the opposite direction. */
  inward: SharedArrayBuffer
  outward: SharedArrayBuffer
}

/** Messages to the thread. */
export type WorkerCommand =
  | { type: 'datagram'; bytes: Uint8Array; at: number }
  | { type: 'stream'; bytes: Uint8Array }
  | { type: 'ping' }
  | { type: 'close' }

/** Messages from the thread. */
export type WorkerEvent =
  | { type: 'dialing' }
  | { type: 'ready' }
  | { type: 'failed'; code: SvcError['code']; message: string }
  | { type: 'datagram'; bytes: Uint8Array; at: number }
  | { type: 'stream'; bytes: Uint8Array }
  | { type: 'dropped'; reason: QueueDrop; count: number }
  | { type: 'closed'; reason: string }

if (parentPort) await run(parentPort, workerData as WorkerData)

async function run(port: NonNullable<typeof parentPort>, { target, ...shared }: WorkerData): Promise<void> {
  const [inward, outward] = [new InFlightCounter(shared.inward), new InFlightCounter(shared.outward)]
  const report = (it: WorkerEvent): void => port.postMessage(it)
  /** Copies the bytes, because posting a view would post its whole buffer. */
  const pass = (type: 'datagram' | 'stream', bytes: Uint8Array): void => {
    const copy = new Uint8Array(bytes)
    port.postMessage({ type, bytes: copy, at: monotonic() } satisfies WorkerEvent, [copy.buffer])
  }
  const drop = (reason: QueueDrop, bytes: Uint8Array): void =>
    report({ type: 'dropped', reason, count: datagramsOf(bytes).length })
  report({ type: 'dialing' })
  try {
    const connection = await dialQuic(
      target,
      {
        datagram: (bytes) => {
          if (inward.tryAdd()) pass('datagram', bytes)
        },
        // The shared counter counts it.
        dropped: () => {},
        closed: (reason) => report({ type: 'closed', reason }),
      },
      undefined,
      'wasm',
    )
    connection.stream.on('data', (bytes: Uint8Array) => pass('stream', bytes))
    const sending = new DatagramQueue<Uint8Array>({
      pass: (bytes) => {
        outward.remove()
        if (!connection.send(bytes)) drop('send_queue_full', bytes)
      },
      tooOld: (bytes) => {
        outward.remove()
        drop('send_too_old', bytes)
      },
      batchSize: DELIVERY_PORTION,
      pause: forATurn,
      now: monotonic,
    })
    port.on('message', (order: WorkerCommand) => obey(connection, sending, order))
    report({ type: 'ready' })
  } catch (error) {
    const { code, message } = asSvcError(error, 'tunnel_unreachable', 'there is no QUIC connection')
    report({ type: 'failed', code, message })
  }
}

function obey(connection: QuicConnection, sending: DatagramQueue<Uint8Array>, order: WorkerCommand): void {
  // The other thread sends no more than this queue holds.
  if (order.type === 'datagram') sending.push(order.bytes, order.at)
  else if (order.type === 'stream') connection.stream.write(order.bytes)
  else if (order.type === 'ping') connection.ping()
  else connection.close()
}
