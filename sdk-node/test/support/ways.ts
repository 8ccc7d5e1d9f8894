// A local server as the target of visitors in memory, on its direct way and by a Request: both have to behave alike.

import { Visitor } from '../../../sdk-core/test/http1/visitor.ts'
import type { SvcError } from '../../src/index.ts'
import { type HttpTargetOptions, httpTarget } from '../../src/target/http-target.ts'

/** The ways of a request to a target. */
export const WAYS = ['direct', 'Request'] as const
export type Way = (typeof WAYS)[number]

/** A TargetVisitor speaks HTTP/1.1 with a site in front of a target. */
export class TargetVisitor extends Visitor {
  /** The errors of a target that does not answer. */
  readonly failures: SvcError[]

  constructor(way: Way, target: string, options: Partial<HttpTargetOptions> = {}) {
    const failures: SvcError[] = []
    const onError = (error: SvcError): void => void failures.push(error)
    const handler = httpTarget(new URL(target), { onError, ...options })
    super(undefined, { fetch: way === 'direct' ? handler : (request, info) => handler(request, info) })
    this.failures = failures
  }
}
