// Answers endpoints of features that this relay does not have with `feature_unavailable`.

import { HEADER, PATH } from '@svc/protocol'
import type { LeaseCredentials } from '../../auth/lease-authorizer.ts'
import { RelayError } from '../../errors.ts'
import { headerOf } from '../http/request.ts'
import type { Handler, Routing } from '../http/server.ts'

export function createDisabledFeatures(credentials: LeaseCredentials): Routing {
  const cache: Handler = (request) => {
    credentials.leaseOf(headerOf(request, HEADER.accessToken), 'lease')
    throw unavailable('this relay does not have the static cache')
  }
  const discovery: Handler = () => {
    throw unavailable('this relay does not have discovery')
  }
  return {
    [PATH.cache]: { POST: cache, PUT: cache, DELETE: cache },
    [PATH.discovery]: { GET: discovery },
    [PATH.announce]: { POST: discovery },
  }
}

function unavailable(message: string): RelayError {
  return new RelayError('feature_unavailable', message)
}
