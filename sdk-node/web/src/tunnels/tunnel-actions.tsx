// The buttons of a tunnel: share, record, pause, change, remove.

import { confirm } from '@svc/relay-web/common/confirm.tsx'
import { useState, type VNode } from '@svc/relay-web/preact.ts'
import {
  AGENT_PATH,
  type RecordTunnelRequest,
  type TunnelSettings,
  type TunnelStatus,
} from '../../../src/agent/api-messages.ts'
import { act } from '../session/act.tsx'
import type { SharesDialog } from '../shares/shares-dialog.tsx'
import { ACTIONS, TUNNEL } from '../texts/texts.ts'
import { useTunnelForm } from './form-opener.tsx'

interface TunnelActionsProps {
  tunnel: TunnelStatus
  settings: TunnelSettings | undefined
  shared: TunnelSettings
  refresh: () => Promise<void>
}

export function TunnelActions({ tunnel, settings, shared, refresh }: TunnelActionsProps): VNode {
  const { name, state } = tunnel
  const shown = name ?? TUNNEL.unnamed
  const form = useTunnelForm()
  const [sharing, setSharing] = useState<{ SharesDialog: typeof SharesDialog } | undefined>(undefined)
  const [isBusy, setBusy] = useState(false)
  const body = name === undefined ? {} : { name }
  const run = async (path: string, done: string, request: object = body): Promise<void> => {
    setBusy(true)
    await act(path, request, done, refresh)
    setBusy(false)
  }
  const resume = (): Promise<void> => run(AGENT_PATH.resumeTunnel, ACTIONS.resumed(shown))
  const toggle = (): Promise<void> =>
    state === 'paused' ? resume() : run(AGENT_PATH.pauseTunnel, ACTIONS.paused(shown))
  const share = (): void => {
    // The dashboard says when the agent does not answer.
    import('../shares/shares-dialog.tsx').then(setSharing, () => {})
  }
  const record = (): Promise<void> => {
    const begins = tunnel.recorded === false
    const said = begins ? ACTIONS.recording(shown) : ACTIONS.notRecording(shown)
    return run(AGENT_PATH.recordTunnel, said, { ...body, record: begins } satisfies RecordTunnelRequest)
  }
  const remove = async (): Promise<void> => {
    if (await confirm(ACTIONS.sureToRemove(shown))) await run(AGENT_PATH.removeTunnel, ACTIONS.removed(shown))
  }
  return (
    <div class="actions">
      {state === 'ended' && (
        <button type="button" class="plain small" disabled={isBusy} onClick={() => void resume()}>
          {ACTIONS.retry}
          <span class="unseen"> {shown}</span>
        </button>
      )}
      {tunnel.can_be_shared && (
        <button type="button" class="plain small" onClick={share}>
          {ACTIONS.share}
          <span class="unseen"> {shown}</span>
        </button>
      )}
      {tunnel.recorded !== undefined && (
        <button type="button" class="plain small" disabled={isBusy} onClick={() => void record()}>
          {tunnel.recorded ? ACTIONS.stopRecording : ACTIONS.record}
          <span class="unseen"> {shown}</span>
        </button>
      )}
      <button type="button" class="plain small" disabled={isBusy} onClick={() => void toggle()}>
        {state === 'paused' ? ACTIONS.resume : ACTIONS.pause}
        <span class="unseen"> {shown}</span>
      </button>
      <button
        type="button"
        class="plain small"
        disabled={isBusy || settings === undefined}
        onClick={form.open}
      >
        {ACTIONS.change}
        <span class="unseen"> {shown}</span>
      </button>
      <button type="button" class="plain small wrong" disabled={isBusy} onClick={() => void remove()}>
        {ACTIONS.remove}
        <span class="unseen"> {shown}</span>
      </button>
      {sharing && <sharing.SharesDialog name={name} onClose={() => setSharing(undefined)} />}
      {settings !== undefined && form.show({ before: settings, shared, refresh })}
    </div>
  )
}
