// The last requests of visitors, newest first. The rows stay in place, and their texts move down.

import { useState, type VNode } from '@svc/relay-web/preact.ts'
import type { AgentRequest } from '../../../src/agent/api-messages.ts'
import { REQUESTS } from '../texts/texts.ts'

const SHOWN_MAX = 50
/** The lowest status that is an error (RFC 9110 §15.5). */
const ERROR_STATUS = 400

interface RequestsCardProps {
  requests: readonly AgentRequest[]
  /** Whether the rows must name their tunnel. */
  areSeveral: boolean
}

export function RequestsCard({ requests, areSeveral }: RequestsCardProps): VNode {
  const [tunnel, setTunnel] = useState('')
  const names = [...new Set(requests.map((request) => request.tunnel ?? ''))].sort()
  const shown = requests.filter((request) => tunnel === '' || request.tunnel === tunnel)
  return (
    <section class="card" aria-labelledby="requests">
      <h2 id="requests">
        {REQUESTS.title}
        {areSeveral && (
          <select
            aria-label={REQUESTS.filter}
            value={tunnel}
            onChange={(event) => setTunnel(event.currentTarget.value)}
          >
            <option value="">{REQUESTS.all}</option>
            {names.filter(Boolean).map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        )}
      </h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by the keyboard */}
      <section class="requests" tabIndex={0} aria-label={REQUESTS.list}>
        {shown.length === 0 && <p class="quiet">{REQUESTS.none}</p>}
        <ol>
          {shown
            .slice(-SHOWN_MAX)
            .toReversed()
            .map((request, position) => (
              <Row key={position} request={request} hasName={areSeveral} />
            ))}
        </ol>
      </section>
    </section>
  )
}

function Row({ request, hasName }: { request: AgentRequest; hasName: boolean }): VNode {
  const { tunnel, method, path = '', status, address, ms } = request
  return (
    <li class="request">
      <span class="status" data-wrong={status >= ERROR_STATUS}>
        {status}
      </span>
      <code title={`${method} ${path}`}>
        {method} {path}
      </code>
      <span class="quiet">{[hasName && tunnel, address].filter(Boolean).join(' ')}</span>
      <span class="quiet ms">{REQUESTS.ms(ms)}</span>
    </li>
  )
}
