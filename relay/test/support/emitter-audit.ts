// Preloaded into every process of a relay: writes down each emitter that lives without a listener of its errors, for one
// error of it would end the process. The file is named by AUDIT_FILE, with a line for each place that makes such emitters.

import { appendFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/** Milliseconds between two looks: often enough to notice a listener that is taken away too early. */
const LOOK_MS = 20
/** Node's own emitters, by the place that makes them: these emit an error only where they have a listener, or never. */
const HARMLESS = [
  /^(?:IncomingMessage|ApiRequest|FileHandle|MessagePort|ReadableWorkerStdio|SocketList(?:Receive|Send)|Control)\n/,
  /^EventEmitter\n.*node:internal\/cluster/s,
  /^(?:Agent|Dispatcher1Wrapper)\n/,
  // The QUIC library shows a connection only when its handshake is done: what it does before, it does in a process of its own.
  /^QuicServerSession\n/,
]

// As a module of CommonJS it is the constructor itself, whose property every emitter's construction asks for.
const Emitter = createRequire(import.meta.url)('node:events') as typeof import('node:events').EventEmitter & {
  init(this: import('node:events').EventEmitter, options: unknown): void
}
type Emitter = import('node:events').EventEmitter

const emitters = new Map<WeakRef<Emitter>, string>()
const told = new Set<string>()
const init = Emitter.init
Emitter.init = function (options) {
  init.call(this, options)
  emitters.set(new WeakRef(this), `${new Error().stack}`.split('\n').slice(2).join('\n'))
}
setInterval(look, LOOK_MS).unref()

function look(): void {
  for (const [reference, stack] of emitters) {
    const emitter = reference.deref() as (Emitter & { destroyed?: boolean; closed?: boolean }) | undefined
    if (emitter === undefined || emitter.destroyed || emitter.closed) emitters.delete(reference)
    else if (emitter.listenerCount('error') === 0) tell(`${emitter.constructor.name}\n${stack}`)
  }
}

function tell(what: string): void {
  if (told.has(what) || HARMLESS.some((pattern) => pattern.test(what))) return
  told.add(what)
  appendFileSync(process.env.AUDIT_FILE ?? '/dev/stderr', `${JSON.stringify(what)}\n`)
}
