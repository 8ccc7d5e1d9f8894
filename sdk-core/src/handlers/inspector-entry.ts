// The inspector's record of one request.

import { SvcError } from '../errors.ts'

/** An Entry is one request that `inspect` recorded, with its response. */
export interface Entry {
  readonly id: number
  /** The time of the request, in milliseconds since the epoch. */
  readonly at: number
  readonly method: string
  readonly url: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** The first bytes of the body, up to `maxBodyBytes`. */
  readonly body: Uint8Array<ArrayBuffer>
  /** The length of the body in bytes: more than `body` has if it was too long to keep. */
  readonly bodyBytes: number
  /** The status of the response. Undefined until there is one; 500 when the handler failed. */
  readonly status: number | undefined
  /** The time from the request to the head of the response, in milliseconds. */
  readonly ms: number | undefined
  /** The id of the entry that this one repeats. */
  readonly replayOf: number | undefined
}

/**
 * Returns the whole body.
 * @throws SvcError when only its beginning was kept
 */
export function completeBody({ body, bodyBytes }: Entry): Uint8Array<ArrayBuffer> {
  if (bodyBytes > body.length)
    throw new SvcError('invalid_option', `only ${body.length} bytes of the body were kept`)
  return body
}
