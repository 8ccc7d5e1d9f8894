// The page after the sign-in: tunnels, the last requests, relays, and the agent itself.

import { Confirm } from '@svc/relay-web/common/confirm.tsx'
import { type Polled, usePoll } from '@svc/relay-web/common/poll.ts'
import { useEffect, type VNode } from '@svc/relay-web/preact.ts'
import {
  AGENT_PATH,
  type AgentConfig,
  type AgentStatus,
  type TunnelSettings,
} from '../../../src/agent/api-messages.ts'
import { Message } from '../session/act.tsx'
import { ask } from '../session/session.ts'
import { APP, DASHBOARD } from '../texts/texts.ts'
import { Figures } from '../tunnels/figures.tsx'
import { useTunnelForm } from '../tunnels/form-opener.tsx'
import { TunnelCard } from '../tunnels/tunnel-card.tsx'
import { isOnline } from '../tunnels/tunnel-state.ts'
import { AgentCard } from './agent-card.tsx'
import { FlowsCard } from './flows-card.tsx'
import { KnocksCard } from './knocks-card.tsx'
import { RelaysCard } from './relays-card.tsx'
import { RequestsCard } from './requests-card.tsx'

const STATUS_INTERVAL_MS = 1_500
/** The file rarely changes, and is read at once after each change by this page. */
const CONFIG_INTERVAL_MS = 15_000

export function Dashboard({ isOwner }: { isOwner: boolean }): VNode {
  const status = usePoll<AgentStatus>(() => ask(AGENT_PATH.status), STATUS_INTERVAL_MS)
  const config = usePoll<AgentConfig | undefined>(
    async () => (isOwner ? await ask<AgentConfig>(AGENT_PATH.config) : undefined),
    CONFIG_INTERVAL_MS,
  )
  const refresh = async (): Promise<void> => {
    await Promise.all([status.refresh(), config.refresh()])
  }
  const { data } = status
  useTitle(data)
  if (data === undefined) return <Nothing {...status} />
  const isGone = status.error?.code === 'unreachable'
  const { tunnels } = data
  const shared = config.data?.shared ?? {}
  return (
    <main class="wide dashboard" data-stale={status.error !== undefined}>
      <Heading isOwner={isOwner} shared={shared} refresh={refresh} isGone={isGone} />
      <Figures tunnels={tunnels} />
      {data.config.error !== undefined && (
        <p class="notice" role="alert">
          {DASHBOARD.brokenFile} {data.config.error}
        </p>
      )}
      {tunnels.length === 0 && <Empty isOwner={isOwner} path={data.config.path} />}
      {tunnels.map((tunnel) => (
        <TunnelCard
          key={tunnel.name ?? ''}
          tunnel={tunnel}
          errors={data.errors.filter((error) => error.tunnel === tunnel.name)}
          settings={config.data?.tunnels.find(({ name }) => name === tunnel.name)}
          shared={shared}
          isOwner={isOwner}
          refresh={refresh}
        />
      ))}
      <KnocksCard knocks={data.knocks} refresh={refresh} />
      <RequestsCard requests={data.requests} areSeveral={tunnels.length > 1} />
      <FlowsCard flows={data.flows} areSeveral={tunnels.length > 1} />
      <RelaysCard tunnels={tunnels} config={config.data} isOwner={isOwner} refresh={refresh} />
      <AgentCard status={data} config={config.data} isOwner={isOwner} refresh={refresh} />
      <Confirm />
      <Message isGone={isGone} />
    </main>
  )
}

interface HeadingProps {
  isOwner: boolean
  shared: TunnelSettings
  refresh: () => Promise<void>
  isGone: boolean
}

function Heading({ isOwner, shared, refresh, isGone }: HeadingProps): VNode {
  const form = useTunnelForm()
  return (
    <div class="heading">
      <h1>{DASHBOARD.title}</h1>
      {isOwner && (
        <button type="button" disabled={isGone} onClick={form.open}>
          {DASHBOARD.add}
        </button>
      )}
      {form.show({ shared, refresh })}
    </div>
  )
}

/** Shown before the first answer, or without one. */
function Nothing({ error }: Polled<AgentStatus>): VNode {
  return (
    <main class="wide">
      <p role="status" class="quiet">
        {error === undefined ? APP.loading : error.code === 'unreachable' ? APP.gone : error.message}
      </p>
    </main>
  )
}

function Empty({ isOwner, path }: { isOwner: boolean; path: string }): VNode {
  return (
    <section class="card empty">
      <h2>{DASHBOARD.none}</h2>
      <p class="quiet">{isOwner ? DASHBOARD.addFirst(path) : DASHBOARD.noneToSee}</p>
    </section>
  )
}

function useTitle(data: AgentStatus | undefined): void {
  const text =
    data === undefined ? APP.name : APP.titleOf(data.tunnels.filter(isOnline).length, data.tunnels.length)
  useEffect(() => {
    document.title = text
  }, [text])
}
