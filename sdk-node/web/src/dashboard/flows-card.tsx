// The last visitors of UDP services, newest first: each has a flow, which the service sees as a port of this machine.

import type { VNode } from '@svc/relay-web/preact.ts'
import type { AgentFlow } from '../../../src/agent/api-messages.ts'
import { FLOWS } from '../texts/texts.ts'

const SHOWN_MAX = 20

interface FlowsCardProps {
  flows: readonly AgentFlow[]
  /** Whether the rows must name their tunnel. */
  areSeveral: boolean
}

export function FlowsCard({ flows, areSeveral }: FlowsCardProps): VNode | null {
  if (flows.length === 0) return null
  return (
    <section class="card" aria-labelledby="flows">
      <h2 id="flows">{FLOWS.title}</h2>
      <p class="quiet">{FLOWS.about}</p>
      <ol class="flows">
        {flows
          .slice(-SHOWN_MAX)
          .toReversed()
          .map((flow, position) => (
            <li class="flow" key={position}>
              <code>{addressOf(flow)}</code>
              <span class="quiet">{areSeveral && flow.tunnel}</span>
              <span class="quiet">{FLOWS.localPort(flow.local_port)}</span>
            </li>
          ))}
      </ol>
    </section>
  )
}

function addressOf({ address, port }: AgentFlow): string {
  if (address === undefined) return FLOWS.unknown
  if (port === undefined) return address
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}
