// A promise that is settled by its holder, or earlier by an AbortSignal.

export interface Deferred<T> {
  readonly promise: Promise<T>
  resolve(value: T): void
  reject(reason: unknown): void
}

/** @param onAbort called before the promise rejects with the signal's reason; it removes the deferred from its queue */
export function abortableDeferred<T>(signal: AbortSignal | undefined, onAbort: () => void): Deferred<T> {
  const settle = Promise.withResolvers<T>()
  if (signal === undefined) return settle

  const abort = () => {
    onAbort()
    settle.reject(signal.reason)
  }
  const unlisten = () => signal.removeEventListener('abort', abort)
  signal.addEventListener('abort', abort, { once: true })
  return {
    promise: settle.promise,
    resolve(value) {
      unlisten()
      settle.resolve(value)
    },
    reject(reason) {
      unlisten()
      settle.reject(reason)
    },
  }
}
