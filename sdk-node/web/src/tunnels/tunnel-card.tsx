// One tunnel: its target, its addresses at each relay, its figures, and the owner's actions.

import { breakable } from '@svc/relay-web/common/breakable.tsx'
import { CopyButton } from '@svc/relay-web/common/copy-button.tsx'
import { isForPhones } from '@svc/relay-web/common/for-phones.ts'
import { formatAgo, formatBytes } from '@svc/relay-web/common/format.ts'
import { Modal } from '@svc/relay-web/common/modal.tsx'
import { Qr } from '@svc/relay-web/common/qr.tsx'
import { useState, type VNode } from '@svc/relay-web/preact.ts'
import type {
  RelayStatus,
  TunnelError,
  TunnelSettings,
  TunnelStatus,
} from '../../../src/agent/api-messages.ts'
import { TUNNEL } from '../texts/texts.ts'
import { DomainState } from './domain-state.tsx'
import { Figure } from './figures.tsx'
import { TunnelActions } from './tunnel-actions.tsx'
import { obstacleOf, stateOf } from './tunnel-state.ts'

interface TunnelCardProps {
  tunnel: TunnelStatus
  /** Errors that did not end the tunnel. */
  errors: readonly TunnelError[]
  /** The fields of svc.toml; undefined until known, and for readers. */
  settings: TunnelSettings | undefined
  /** The fields for all tunnels. */
  shared: TunnelSettings
  isOwner: boolean
  refresh: () => Promise<void>
}

export function TunnelCard({ tunnel, errors, settings, shared, isOwner, refresh }: TunnelCardProps): VNode {
  const { name = TUNNEL.unnamed, target, relays, failure, retry_at, state } = tunnel
  const shown = stateOf(tunnel)
  const online = relays.find((relay) => relay.state === 'online' && relay.url !== undefined)
  const url = online?.share_url ?? online?.url
  const id = `tunnel-${name}`
  // Does not repeat the tunnel's own message.
  const places = relays.filter((relay) => failure === undefined || relay.failure?.message !== failure.message)
  const told = new Set([failure?.message, ...places.map(obstacleOf)])
  const news = errors.filter(({ message }) => !told.has(message))
  return (
    <section class="card tunnel" aria-labelledby={id} data-state={state}>
      <div class="about">
        <h2 id={id}>
          <bdi>{name}</bdi>
          <span class="state" data-state={shown.kind}>
            {shown.text}
          </span>
        </h2>
        <p class="quiet target">
          <span aria-hidden="true">→ </span>
          <bdi>{target}</bdi>
        </p>
        {failure !== undefined && (
          <p class="obstacle" data-wrong="true">
            {failure.message}
            {retry_at !== undefined && ` ${TUNNEL.again(formatAgo(retry_at))}`}
          </p>
        )}
        {places.map((relay) => (
          <AtRelay key={relay.relay} relay={relay} areSeveral={relays.length > 1} />
        ))}
        {news.map(({ message, code }) => (
          <p class="obstacle" data-wrong="true" key={code + message}>
            {message}
          </p>
        ))}
      </div>
      {url !== undefined && isForPhones(url) && <Code url={url} name={name} />}
      {isOwner && <TunnelActions tunnel={tunnel} settings={settings} shared={shared} refresh={refresh} />}
    </section>
  )
}

function AtRelay({ relay, areSeveral }: { relay: RelayStatus; areSeveral: boolean }): VNode {
  const { state, url, share_url, tcp_address, udp_address, probe, rtt_ms } = relay
  const obstacle = obstacleOf(relay)
  const addresses = [
    ...(url === undefined ? [] : [url]),
    ...(tcp_address === undefined ? [] : [`tcp://${tcp_address}`]),
    ...(udp_address === undefined ? [] : [`udp://${udp_address}`]),
  ]
  const rtt = rtt_ms === undefined ? '–' : TUNNEL.milliseconds(rtt_ms)
  return (
    <div class="at-relay">
      {addresses.map((address) => (
        <div class="row address-line" key={address}>
          {address === url ? (
            <a href={url} target="_blank" rel="noopener noreferrer">
              {breakable(address)}
            </a>
          ) : (
            <code>{address}</code>
          )}
          <CopyButton text={address} label={TUNNEL.copy(address)} />
        </div>
      ))}
      {share_url !== undefined && (
        <div class="row address-line">
          <a href={share_url} target="_blank" rel="noopener noreferrer">
            {breakable(share_url)}
          </a>
          <CopyButton text={share_url} label={TUNNEL.copy(share_url)} />
        </div>
      )}
      {share_url !== undefined && <p class="quiet">{TUNNEL.share}</p>}
      {relay.domains?.map((status) => (
        <DomainState key={status.domain} status={status} />
      ))}
      {(areSeveral || addresses.length === 0) && (
        <p class="quiet at">{TUNNEL.at(relay.relay, state === 'online' ? '' : state)}</p>
      )}
      {obstacle !== undefined && (
        <p class="obstacle" data-wrong={state === 'failed'}>
          {obstacle}
        </p>
      )}
      {probe === 'suspected' && (
        <p class="obstacle" data-wrong="true">
          {TUNNEL.suspected}
        </p>
      )}
      {(state === 'online' || state === 'reconnecting') && (
        <dl class="numbers small">
          <Figure name={TUNNEL.figures.rtt} value={rtt} />
          <Figure name={TUNNEL.figures.connections} value={relay.connections.toLocaleString('en')} />
          <Figure name={TUNNEL.figures.received} value={formatBytes(relay.bytes_in)} />
          <Figure name={TUNNEL.figures.sent} value={formatBytes(relay.bytes_out)} />
        </dl>
      )}
    </div>
  )
}

/** A small QR code, which opens a large one. */
function Code({ url, name }: { url: string; name: string }): VNode {
  const [isLarge, setLarge] = useState(false)
  return (
    <>
      <button type="button" class="code" aria-label={TUNNEL.code(name)} onClick={() => setLarge(true)}>
        <Qr text={url} label={TUNNEL.codeOf(url)} />
      </button>
      {isLarge && (
        <Modal title={name} onClose={() => setLarge(false)}>
          <div class="large-code">
            <Qr text={url} label={TUNNEL.codeOf(url)} />
          </div>
          <p class="quiet">{url}</p>
          <div class="row end">
            <button type="button" class="plain" onClick={() => setLarge(false)}>
              {TUNNEL.close}
            </button>
          </div>
        </Modal>
      )}
    </>
  )
}
