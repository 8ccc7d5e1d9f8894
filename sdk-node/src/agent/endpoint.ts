// An endpoint of a control server, and what each of them works with.

import type { Role } from './api-messages.ts'
import type { Caller, SignIns } from './sign-ins.ts'

/** The context that each endpoint has. */
export interface SharedContext {
  /** The address of the control API, without a path. */
  url: string
  signIns: SignIns
}

export interface Question {
  /** Undefined when nobody is signed in. */
  caller: Caller | undefined
  /** The token of the caller. */
  token: string
  body: Record<string, unknown>
  query: URLSearchParams
}

export interface Endpoint<Context> {
  method: 'GET' | 'POST'
  /** The lowest role that may call; undefined for everybody. */
  role?: Role
  /** The largest body, in bytes, where it is not the usual one. */
  maxBytes?: number
  /** Resolves with the data of the answer. */
  answer(question: Question, context: Context): object | Promise<object>
}
