// The head of a request in any version of HTTP: method, target and fields.

import type { Field } from './fields.ts'

export interface RequestHead {
  method: string
  /** The target as the visitor sent it: origin-form, absolute-form or `*`. */
  target: string
  version: '1.1' | '1.0'
  fields: Field[]
}
