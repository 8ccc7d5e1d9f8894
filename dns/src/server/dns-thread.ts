// Runs the DNS server in a worker thread, which has the zone, the key and the sockets, and gets changes as messages.

import { parentPort, workerData } from 'node:worker_threads'
import { Zone } from '../zone/zone.ts'
import { COUNTS_INTERVAL_MS, ERROR_LOG_INTERVAL_MS } from './limits.ts'
import { Listeners } from './listeners.ts'
import { Responder } from './responder.ts'
import { type FromThread, receivedChange, type ThreadData, type ToThread } from './thread-messages.ts'

if (parentPort !== null) run(parentPort, workerData)

function run(
  port: NonNullable<typeof parentPort>,
  { zone: parameters, addresses, rates, rebindMs }: ThreadData,
): void {
  const tell = (message: FromThread): void => port.postMessage(message)
  const zone = new Zone(parameters)
  const responder = new Responder({
    zone,
    rates,
    onZoneError: atMostOften((message) => tell({ kind: 'failed', message })),
  })
  let listeners: Listeners | undefined
  const counting = setInterval(() => tell({ kind: 'counts', counts: responder.counts }), COUNTS_INTERVAL_MS)
  const listen = async (): Promise<void> => {
    listeners = new Listeners({
      addresses,
      responder,
      rebindMs,
      onBound: (address) => tell({ kind: 'bound', address }),
      onUnbound: (address, { code = '', message }) => tell({ kind: 'unbound', address, code, message }),
    })
    await listeners.bind()
    tell({ kind: 'listening' })
  }
  const close = async (): Promise<void> => {
    clearInterval(counting)
    await listeners?.close()
    port.close()
  }
  const apply = (message: Extract<ToThread, { kind: 'apply' }>): void => {
    let problem: string | undefined
    for (const change of message.changes) {
      try {
        zone.apply(receivedChange(change))
      } catch (error) {
        problem ??= (error as Error).message
      }
    }
    tell({ kind: 'applied', id: message.id, problem })
  }
  port.on('message', (message: ToThread) => {
    if (message.kind === 'apply') apply(message)
    else if (message.kind === 'listen') void listen()
    else void close()
  })
}

/** Limits the rate of error messages, because an error may occur for every query. */
function atMostOften(tell: (message: string) => void): (error: unknown) => void {
  let last = Number.NEGATIVE_INFINITY
  return (error) => {
    if (performance.now() - last < ERROR_LOG_INTERVAL_MS) return
    last = performance.now()
    tell((error as Error).message)
  }
}
