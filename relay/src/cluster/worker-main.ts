// The process of a worker: begins when the first process says so, and ends with it.

import { Socket } from 'node:net'
import { createPipe } from '../bridge/pipe.ts'
import { Landing } from '../bridge/shared-read-buffer.ts'
import { leaveOnFatalErrors } from '../log/fatal-errors.ts'
import { createLog } from '../log/log.ts'
import { API_CHANNEL_FD } from './api-channel.ts'
import type { Beginning, ToWorker } from './messages.ts'
import { createWorker, type Orders, type Worker } from './worker.ts'

// Signals reach the whole group of processes: it is the first one that decides what they mean.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
process.once('disconnect', () => process.exit())

let worker: Worker | undefined
const early = createLog('fatal')
leaveOnFatalErrors({ log: () => worker?.log ?? early, leave: async () => await worker?.leave() })

let orders: Promise<Orders> = Promise.resolve({})
process.on('message', (message: ToWorker, socket?: Socket) => {
  if (message.kind === 'begin') orders = start(message)
  // one after the other, as they came
  else void orders.then((known) => obey(known, message, socket))
})

async function start(beginning: Beginning): Promise<Orders> {
  const pipe = createPipe(await Landing.find())
  worker = createWorker(beginning, new Socket({ fd: API_CHANNEL_FD }), pipe)
  return worker.orders
}

function obey(orders: Orders, message: ToWorker, socket: Socket | undefined): void {
  const order = orders[message.kind] as ((message: ToWorker, socket?: Socket) => void) | undefined
  order?.(message, socket)
}
