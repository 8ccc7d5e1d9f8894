// The head of a request of any HTTP version: method, target and fields.

import type { Field } from './fields.ts'

export interface RequestHead {
  method: string
  /** The target as the visitor sent it: origin-form, absolute-form or `*`. */
  target: string
  version: '1.1' | '1.0'
  fields: Field[]
}
