// Handles the endpoints of features that this relay does not have.

import { HEADER } from '@svc/protocol'
import type { LeaseCredentials } from '../../auth/lease-authorizer.ts'
import { RelayError } from '../../errors.ts'
import type { AnswerEndpoint } from '../endpoint-handler.ts'
import { ENDPOINTS, type EndpointName } from '../endpoints/endpoints.ts'
import { headerOf } from '../http/request.ts'
import type { Handler } from '../http/server.ts'

type FeatureEndpoint = Extract<
  EndpointName,
  | 'adminCache'
  | 'adminPayments'
  | 'announce'
  | 'checkCache'
  | 'customDomains'
  | 'discovery'
  | 'discoverySite'
  | 'hopRoute'
  | 'removeCache'
  | 'siteCertificate'
  | 'uploadCache'
>

export function createDisabledFeatures({
  answer,
  credentials,
}: {
  answer: AnswerEndpoint
  credentials: LeaseCredentials
}): Record<FeatureEndpoint, Handler> {
  const discovery: Handler = () => {
    throw new RelayError('feature_unavailable', 'this relay does not have discovery')
  }
  const ofLease = (message: string): Handler => {
    return (request) => {
      credentials.leaseOf(headerOf(request, HEADER.accessToken), 'lease')
      throw new RelayError('feature_unavailable', message)
    }
  }
  const cache = ofLease('this relay does not have the static cache')
  return {
    adminCache: answer(ENDPOINTS.adminCache, () => ({ sites: [], used_bytes: 0, max_bytes: 0 })),
    adminPayments: answer(ENDPOINTS.adminPayments, () => ({
      enabled: false,
      network_name: '',
      pay_to: '',
      settled: 0,
      refused: 0,
      failed: 0,
      open: 0,
    })),
    discovery,
    announce: discovery,
    discoverySite: discovery,
    customDomains: answer(ENDPOINTS.customDomains, ({ body }) => {
      credentials.leaseOf(body.access_token, 'lease')
      throw new RelayError('feature_unavailable', 'this relay has no custom domains')
    }),
    hopRoute: ofLease('this relay is on no overlay'),
    checkCache: cache,
    uploadCache: cache,
    removeCache: cache,
    siteCertificate: ofLease('this relay issues no certificates for sites'),
  }
}
