// Who sent a request, as the parts of access see it.

import type { Session } from '../handlers/sessions/sessions.ts'

/** A Visitor is who sent a request, as far as that is known. */
export interface Visitor {
  readonly request: Request
  readonly url: URL
  /** The visitor's address. Undefined when unknown. */
  readonly address: string | undefined
  /** The network of the visitor's address. Undefined when that is unknown. */
  readonly network: string | undefined
  readonly session: Session | undefined
  /** Tells the site's owner of an error that is not the visitor's. */
  report(error: Error): void
}
