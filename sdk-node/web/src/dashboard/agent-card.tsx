// The agent itself: its release, its settings, and the buttons to reload its file and to shut it down.

import { confirm } from '@svc/relay-web/common/confirm.tsx'
import { formatAgo } from '@svc/relay-web/common/format.ts'
import type { VNode } from '@svc/relay-web/preact.ts'
import {
  AGENT_PATH,
  type AgentConfig,
  type AgentStatus,
  type SettingValue,
} from '../../../src/agent/api-messages.ts'
import { act } from '../session/act.tsx'
import { AGENT } from '../texts/texts.ts'

interface AgentCardProps {
  status: AgentStatus
  config: AgentConfig | undefined
  isOwner: boolean
  refresh: () => Promise<void>
}

export function AgentCard({ status, config, isOwner, refresh }: AgentCardProps): VNode {
  const reload = (): Promise<boolean> => act(AGENT_PATH.reload, {}, AGENT.reloaded, refresh)
  const end = async (): Promise<void> => {
    if (await confirm(AGENT.sureToEnd)) await act(AGENT_PATH.shutdown, {}, AGENT.ended, async () => {})
  }
  return (
    <section class="card" aria-labelledby="agent">
      <h2 id="agent">{AGENT.title}</h2>
      <dl class="fields">
        <Field name={AGENT.release} value={status.release_version} />
        <Field name={AGENT.since} value={formatAgo(status.started_at)} />
        <Field name={AGENT.process} value={String(status.pid)} />
        <Field name={AGENT.address} value={status.url} />
        <Field name={AGENT.file} value={status.config.path} />
      </dl>
      {isOwner && (
        <>
          <h3>{AGENT.settings}</h3>
          <Settings config={config} />
          <div class="actions">
            <button type="button" class="plain small" onClick={() => void reload()}>
              {AGENT.reload}
            </button>
            <button type="button" class="plain small wrong" onClick={() => void end()}>
              {AGENT.end}
            </button>
          </div>
        </>
      )}
    </section>
  )
}

/** The relays have a card of their own. */
function Settings({ config }: { config: AgentConfig | undefined }): VNode {
  const entries = Object.entries(config?.shared ?? {}).filter(([name]) => name !== 'relay')
  return (
    <>
      <p class="quiet">{entries.length === 0 ? AGENT.noSettings : AGENT.aboutSettings}</p>
      {entries.length > 0 && (
        <dl class="fields">
          {entries.map(([name, value]) => (
            <Field key={name} name={name} value={shown(value)} />
          ))}
        </dl>
      )}
    </>
  )
}

function Field({ name, value }: { name: string; value: string }): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

function shown(value: SettingValue): string {
  if (Array.isArray(value)) return value.join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
