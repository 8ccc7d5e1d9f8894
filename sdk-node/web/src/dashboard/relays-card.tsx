// The relays of all tunnels, with their round trips, and a field to connect one more.

import { confirm } from '@svc/relay-web/common/confirm.tsx'
import { useState, type VNode } from '@svc/relay-web/preact.ts'
import { AGENT_PATH, type AgentConfig, type TunnelStatus } from '../../../src/agent/api-messages.ts'
import { act } from '../session/act.tsx'
import { RELAYS } from '../texts/texts.ts'

interface RelaysCardProps {
  tunnels: readonly TunnelStatus[]
  /** Undefined until known, and for readers. */
  config: AgentConfig | undefined
  isOwner: boolean
  refresh: () => Promise<void>
}

export function RelaysCard({ tunnels, config, isOwner, refresh }: RelaysCardProps): VNode {
  const shared = [config?.shared.relay ?? []].flat().map(String)
  const used = tunnels.flatMap(({ relays, named_relays }) => [
    ...named_relays,
    ...relays.map(({ relay }) => relay),
  ])
  const all = [...new Set([...shared, ...used].map(originOf))]
  const leave = async (relay: string): Promise<void> => {
    if (await confirm(RELAYS.sureToLeave(relay)))
      await act(AGENT_PATH.disconnectRelay, { relay }, RELAYS.left(relay), refresh)
  }
  return (
    <section class="card" aria-labelledby="relays">
      <h2 id="relays">{RELAYS.title}</h2>
      {all.length === 0 && <p class="quiet">{RELAYS.none}</p>}
      <ul class="lines">
        {all.map((relay) => (
          <li key={relay}>
            <span>
              <bdi>{relay}</bdi>
              <br />
              <span class="quiet">
                {describe(relay, tunnels)}
                {relay.startsWith('https://') && <DocumentationOf relay={relay} />}
              </span>
            </span>
            {isOwner && shared.some((one) => originOf(one) === relay) && (
              <button type="button" class="plain small" onClick={() => void leave(relay)}>
                {RELAYS.leave}
                <span class="unseen"> {relay}</span>
              </button>
            )}
          </li>
        ))}
      </ul>
      {isOwner && <Connect refresh={refresh} />}
    </section>
  )
}

/** Each relay serves the documentation of its own release. */
function DocumentationOf({ relay }: { relay: string }): VNode {
  return (
    <>
      {' · '}
      <a href={`${relay}/docs/`} target="_blank" rel="noreferrer">
        {RELAYS.documentation}
        <span class="unseen"> {relay}</span>
      </a>
    </>
  )
}

function Connect({ refresh }: { refresh: () => Promise<void> }): VNode {
  const [relay, setRelay] = useState('')
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    setBusy(true)
    const entered = relay.trim()
    if (await act(AGENT_PATH.connectRelay, { relay: entered }, RELAYS.connected(entered), refresh))
      setRelay('')
    setBusy(false)
  }
  return (
    <form class="connect" onSubmit={submit}>
      <label for="new-relay">{RELAYS.label}</label>
      <div class="row">
        <input
          id="new-relay"
          type="url"
          required
          placeholder="https://relay.example"
          value={relay}
          onInput={(event) => setRelay(event.currentTarget.value)}
        />
        <button type="submit" disabled={isBusy}>
          {RELAYS.connect}
        </button>
      </div>
    </form>
  )
}

function describe(relay: string, tunnels: readonly TunnelStatus[]): string {
  const there = tunnels.flatMap((tunnel) => tunnel.relays).filter((one) => originOf(one.relay) === relay)
  const online = there.filter(({ state }) => state === 'online')
  const trips = online.flatMap(({ rtt_ms }) => (rtt_ms === undefined ? [] : [rtt_ms]))
  return RELAYS.describe(online.length, trips.length === 0 ? undefined : Math.min(...trips))
}

/** Relays are the same if their origins are. */
function originOf(url: string): string {
  return URL.parse(url)?.origin ?? url
}
