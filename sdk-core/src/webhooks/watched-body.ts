// The body of a webhook while the handler reads it: a copy is kept, for the check.

import { concat } from '../bytes/concat.ts'
import type { DirectBody } from '../exchange/direct.ts'
import type { RemoteAddress } from '../exchange/fetch-handler.ts'
import type { Field } from '../semantics/fields.ts'
import { BODY_MAX_BYTES } from './message.ts'
import type { Room } from './room.ts'

/** How a body ended: as a whole, with more than there is room for, or before its end. */
export type BodyEnd = 'whole' | 'too_large' | 'unread'

export class WatchedBody implements DirectBody {
  readonly #source: DirectBody
  readonly #room: Room
  readonly #remote: RemoteAddress | undefined
  readonly #end = Promise.withResolvers<BodyEnd>()
  #parts: Uint8Array[] = []
  #bytes = 0
  #isKept = true

  /** @param room where the copy is counted, until `release` is called */
  constructor(source: DirectBody, room: Room, remote: RemoteAddress | undefined) {
    this.#source = source
    this.#room = room
    this.#remote = remote
  }

  /** Resolves when the handler has read the body, or will read no more of it. */
  get end(): Promise<BodyEnd> {
    return this.#end.promise
  }

  /** The copy of what was read. */
  get bytes(): Uint8Array {
    return concat(this.#parts)
  }

  get trailers(): readonly Field[] | undefined {
    return this.#source.trailers
  }

  async next(stallMs?: number): Promise<Uint8Array | undefined> {
    try {
      const bytes = await this.#source.next(stallMs)
      if (bytes) this.#keep(bytes)
      else this.#end.resolve(this.#isKept ? 'whole' : 'too_large')
      return bytes
    } catch (error) {
      this.leave()
      throw error
    }
  }

  /** Says that nobody reads the rest. */
  leave(): void {
    this.#end.resolve('unread')
  }

  /** Drops the copy. */
  release(): void {
    this.#isKept = false
    this.#room.release(this.#remote, this.#bytes)
    this.#bytes = 0
    this.#parts = []
  }

  #keep(bytes: Uint8Array): void {
    if (!this.#isKept) return
    const isSmall = this.#bytes + bytes.length <= BODY_MAX_BYTES
    if (!isSmall || !this.#room.take(this.#remote, bytes.length)) {
      this.release()
      return
    }
    this.#bytes += bytes.length
    this.#parts.push(bytes.slice())
  }
}
