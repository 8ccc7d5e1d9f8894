// Answers the endpoints of the static cache at a relay that does not have it.

import { HEADER } from '@svc/protocol'
import type { LeaseCredentials } from '../../auth/lease-authorizer.ts'
import { RelayError } from '../../errors.ts'
import { headerOf } from '../http/request.ts'
import type { Handler } from '../http/server.ts'
import type { CacheHandlers } from './static-cache.ts'

/** The handlers of a relay whose static cache is off. */
export function createDisabledCache(credentials: LeaseCredentials): CacheHandlers {
  const cache: Handler = (request) => {
    credentials.leaseOf(headerOf(request, HEADER.accessToken), 'lease')
    throw new RelayError('feature_unavailable', 'this relay does not have the static cache')
  }
  return { checkCache: cache, uploadCache: cache, removeCache: cache }
}
