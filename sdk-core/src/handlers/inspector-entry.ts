// What the inspector records of one request.

import { SvcError } from '../errors.ts'

/** Entry is one request that `inspect` recorded, and the answer to it. */
export interface Entry {
  readonly id: number
  /** When it came, in milliseconds since the epoch. */
  readonly at: number
  readonly method: string
  readonly url: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** The first bytes of the body. */
  readonly body: Uint8Array<ArrayBuffer>
  /** How many bytes of the body went by: more than `body` holds when it was too long to keep. */
  readonly bodyBytes: number
  /** Of the answer; undefined until there is one. 500 when the handler failed. */
  readonly status: number | undefined
  /** From the request to the answer's head, in milliseconds. */
  readonly ms: number | undefined
  /** The entry that this one repeats. */
  readonly replayOf: number | undefined
}

/** @throws SvcError when only its beginning was kept */
export function completeBody({ body, bodyBytes }: Entry): Uint8Array<ArrayBuffer> {
  if (bodyBytes > body.length)
    throw new SvcError('invalid_option', `only ${body.length} bytes of the body were kept`)
  return body
}
