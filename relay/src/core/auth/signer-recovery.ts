// Recovers signers in a separate thread: at 3 ms each, a flood of registrations would delay every visitor.

import { Worker } from 'node:worker_threads'
import { RelayError } from '../errors.ts'
import { installation, type ThreadCode } from '../installation.ts'
import type { TextSigner } from './ethereum-signature.ts'
import type { RecoveryRequest, RecoveryResponse } from './signer-recovery-worker.ts'

/** The signer recovery thread ends when nobody has registered for this long, because it takes 25 MB. */
const SIGNER_RECOVERY_IDLE_MS = 60_000
/** Signatures that wait for the signer recovery thread, at about 3 ms each. */
const SIGNER_RECOVERIES_WAITING_MAX = 256
/**
 * Time for one recovery, without those before it. Beyond it the thread hangs: the relay ends it, and the next recovery starts another.
 */
const SIGNER_RECOVERY_DEADLINE_MS = 10_000
/** The same for a thread that has not answered yet: a slow or busy machine takes seconds to load its code. */
const SIGNER_RECOVERY_START_DEADLINE_MS = 30_000

interface Waiting {
  resolve(answer: RecoveryResponse): void
  reject(error: Error): void
}

/** The thread starts with the first request, and ends when there was none for a while. */
export class SignerRecovery {
  readonly #code: ThreadCode
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  /** Whether the thread has answered since it started. */
  #hasAnswered = false
  #idle: NodeJS.Timeout | undefined
  /** Set while requests wait. It begins again with each answer: the thread takes one request at a time. */
  #deadline: NodeJS.Timeout | undefined
  #lastId = 0

  constructor(code: ThreadCode = installation().thread('signer-recovery-worker')) {
    this.#code = code
  }

  /** Checks for room before a challenge is used up. @throws RelayError `rate_limited` when {@link recover} would */
  requireRoom(): void {
    if (this.#waiting.size >= SIGNER_RECOVERIES_WAITING_MAX)
      throw new RelayError('rate_limited', 'too many registrations at once', { 'Retry-After': '1' })
  }

  /**
   * Recovers the lower-case address that signed; undefined when the signature is malformed.
   * @throws RelayError `rate_limited` when too many wait, Error when the thread broke or hangs
   */
  recover(message: string, signature: string): Promise<string | undefined> {
    return this.#ask(message, signature).then(({ address }) => address)
  }

  /**
   * Recovers who signed the SHA-256 of `text`.
   * @param signature 65 bytes, as `recoverTextSigner` takes them
   * @throws RelayError and Error as {@link recover} does
   */
  async recoverTextSigner(text: string, signature: Uint8Array): Promise<TextSigner | undefined> {
    const { address, publicKey } = await this.#ask(text, signature)
    return address === undefined || publicKey === undefined ? undefined : { address, publicKey }
  }

  #ask(message: string, signature: string | Uint8Array): Promise<RecoveryResponse> {
    this.requireRoom()
    this.#worker ??= this.#start()
    clearTimeout(this.#idle)
    const id = ++this.#lastId
    this.#worker.postMessage({ id, message, signature } satisfies RecoveryRequest)
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      if (this.#waiting.size === 1) this.#watch()
    })
  }

  #watch(): void {
    clearTimeout(this.#deadline)
    if (this.#waiting.size === 0) return
    this.#deadline = setTimeout(
      () => this.#end(new Error('the recovery thread hangs')),
      this.#hasAnswered ? SIGNER_RECOVERY_DEADLINE_MS : SIGNER_RECOVERY_START_DEADLINE_MS,
    )
  }

  /** Ends the thread and rejects the pending requests. */
  async close(): Promise<void> {
    await this.#end(new Error('the relay is closing'))
  }

  #start(): Worker {
    // The thread needs neither the relay's secrets nor its command-line options.
    const { script, options } = this.#code
    const worker = new Worker(script, { env: {}, execArgv: [], ...options })
    worker.unref()
    worker.on('message', (answer: RecoveryResponse) => {
      this.#hasAnswered = true
      this.#take(answer.id)?.resolve(answer)
      this.#watch()
    })
    const broken = (cause: unknown) => {
      if (this.#worker === worker) void this.#end(new Error('the recovery thread broke', { cause }))
    }
    worker.on('error', broken)
    worker.on('exit', broken)
    return worker
  }

  async #end(reason: Error): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    this.#hasAnswered = false
    for (const id of [...this.#waiting.keys()]) this.#take(id)?.reject(reason)
    clearTimeout(this.#deadline)
    clearTimeout(this.#idle)
    await worker?.terminate()
  }

  #endWhenIdle(): void {
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => this.#end(new Error('nobody registers')), SIGNER_RECOVERY_IDLE_MS)
    this.#idle.unref()
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (this.#waiting.size === 0) this.#endWhenIdle()
    return waiting
  }
}
