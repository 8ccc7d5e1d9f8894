// A response that a rule gives itself.

import type { Field } from '../semantics/fields.ts'

/** An OwnAnswer is a response that needs no handler. */
export interface OwnAnswer {
  readonly status: number
  readonly fields: readonly Field[]
  /** The content: a text, or the bytes of a mock. */
  readonly text: string | Uint8Array
}
