// Endpoints of features that are off here. They say so, to those who may know, rather than pass for unknown paths.

import { HEADER, PATH } from '@svc/protocol'
import type { LeaseCredentials } from '../../auth/lease-authorizer.ts'
import { RelayError } from '../../errors.ts'
import { headerOf } from '../http/request.ts'
import type { Handler, Routing } from '../http/server.ts'

export function createDisabledFeatures(credentials: LeaseCredentials): Routing {
  const cache: Handler = (request) => {
    credentials.leaseOf(headerOf(request, HEADER.accessToken), 'lease')
    throw unavailable('static caching is not enabled on this relay')
  }
  const discovery: Handler = () => {
    throw unavailable('discovery is not enabled on this relay')
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
