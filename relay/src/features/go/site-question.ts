// Answers `GET /discovery/site`: tells other relays, and pages of any origin, whether this relay has a site.

import type { SitePresence } from '@svc/protocol'
import { SITE_QUESTION_PATTERN } from '../../core/api/endpoints/endpoints.ts'
import { sendData } from '../../core/api/http/envelope.ts'
import type { Handler } from '../../core/api/http/server.ts'
import type { ClientAddresses } from '../../core/client-address/client-addresses.ts'
import { RelayError } from '../../core/errors.ts'
import type { RateLimits } from '../../core/rate-limit/client-rate-limits.ts'
import type { PresentSites } from './present-sites.ts'

export interface SiteQuestionParts {
  sites: PresentSites
  clientAddresses: ClientAddresses
  rateLimits: Pick<RateLimits, 'chargeSiteQuestion'>
}

const QUESTION = new RegExp(SITE_QUESTION_PATTERN)

export function createSiteQuestion(parts: SiteQuestionParts): Handler {
  const { sites, clientAddresses, rateLimits } = parts
  const presenceOf = (question: string): SitePresence => {
    const label = sites.labelOf(question)
    if (label === undefined || !sites.has(label)) return { here: false }
    return { here: true, statement: sites.statementOf(label) }
  }
  return (request, response) => {
    rateLimits.chargeSiteQuestion(clientAddresses.ofRequest(request))
    const question = new URLSearchParams(request.url?.split('?')[1]).get('site') ?? ''
    if (!QUESTION.test(question))
      throw new RelayError('invalid_request', 'the query needs site=, a SHA-256 of 64 lower-case hex digits')
    sendData(response, presenceOf(question))
  }
}
