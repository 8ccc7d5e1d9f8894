// A custom domain of a tunnel, with what it lacks.

import type { VNode } from '@svc/relay-web/preact.ts'
import type { DomainStatus } from '../../../src/agent/api-messages.ts'

export function DomainState({ status }: { status: DomainStatus }): VNode {
  const { domain, online, state, reason, error, unprotected } = status
  const missing = state === 'pending' ? status.records : []
  const lines = missing.map(({ name, type, value }) => `${name} ${type} ${value}`)
  const what = [online ? `https://${domain}` : domain, error ?? reason ?? unprotected, ...lines]
  return <p class="quiet at">{what.filter(Boolean).join(' · ')}</p>
}
