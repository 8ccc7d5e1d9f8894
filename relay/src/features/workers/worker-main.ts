// Runs a worker process: starts at the first message of the primary process, and ends with it.

import { Socket } from 'node:net'
import { collectWhenIdle } from '@svc/node-kit/idle-collection'
import { skipTranslations } from '../../core/config/skip-translations.ts'
import { closeOnFatalErrors } from '../../core/log/fatal-errors.ts'
import { createLog } from '../../core/log/log.ts'
import { SharedReadBuffer } from '../../core/node-internals/shared-read-buffer.ts'
import { API_CHANNEL_FD } from './api-channel.ts'
import type { ToWorker, WorkerStart } from './messages.ts'
import type { Worker } from './worker.ts'
import type { MessageHandlers } from './worker-message-handlers.ts'

// Signals reach the whole process group, and the primary process decides what they mean.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
process.once('disconnect', () => process.exit())
skipTranslations()

let worker: Worker | undefined
const early = createLog('fatal')
closeOnFatalErrors({ log: () => worker?.log ?? early, close: async () => await worker?.leave() })

let handlers: Promise<MessageHandlers> = Promise.resolve({})
process.on('message', (message: ToWorker, socket?: Socket) => {
  if (message.kind === 'begin') handlers = start(message)
  // Messages are handled one after the other, in order.
  else void handlers.then((known) => obey(known, message, socket))
})

async function start(beginning: WorkerStart): Promise<MessageHandlers> {
  const readBuffer = await SharedReadBuffer.find()
  const { createWorker } = await import('./worker.ts')
  worker = createWorker(beginning, new Socket({ fd: API_CHANNEL_FD }), readBuffer)
  collectWhenIdle()
  return worker.handlers
}

function obey(handlers: MessageHandlers, message: ToWorker, socket: Socket | undefined): void {
  const order = handlers[message.kind] as ((message: ToWorker, socket?: Socket) => void) | undefined
  order?.(message, socket)
}
