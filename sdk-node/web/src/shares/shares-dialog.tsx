// The share links of a tunnel: a form for a new one, and the list of those that there are.

import type { ApiError } from '@svc/relay-web/common/api.ts'
import { CopyButton } from '@svc/relay-web/common/copy-button.tsx'
import { Modal } from '@svc/relay-web/common/modal.tsx'
import { usePoll } from '@svc/relay-web/common/poll.ts'
import { useState, type VNode } from '@svc/relay-web/preact.ts'
import {
  AGENT_PATH,
  type AgentShare,
  type AgentShares,
  type MadeShare,
  type MakeShareRequest,
  type WithdrawShareRequest,
} from '../../../src/agent/api-messages.ts'
import { explain } from '../session/act.tsx'
import { ask } from '../session/session.ts'
import { SHARES, TUNNEL } from '../texts/texts.ts'

/** The list tells who used a link, which may happen at any time. */
const LIST_INTERVAL_MS = 3_000

interface SharesDialogProps {
  /** The name of the tunnel. */
  name: string | undefined
  onClose: () => void
}

export function SharesDialog({ name, onClose }: SharesDialogProps): VNode {
  const list = usePoll<AgentShares>(() => ask(AGENT_PATH.shares), LIST_INTERVAL_MS)
  // The agent does not know the secret of a link that it has made: it is here, and gone with the dialog.
  const [made, setMade] = useState<MadeShare | undefined>(undefined)
  const [error, setError] = useState('')
  const run = async (change: () => Promise<unknown>): Promise<void> => {
    setError('')
    await change().catch((cause: ApiError) => setError(explain(cause)))
    await list.refresh()
  }
  const make = (request: MakeShareRequest): Promise<void> =>
    run(async () => setMade(await ask<MadeShare>(AGENT_PATH.makeShare, { body: request })))
  const withdraw = (id: string): Promise<void> =>
    run(async () => {
      const body: WithdrawShareRequest = { id }
      await ask(AGENT_PATH.withdrawShare, { body })
      if (made?.id === id) setMade(undefined)
    })
  const shares = list.data?.shares.filter(({ tunnel }) => tunnel === name)
  return (
    <Modal title={SHARES.title(name ?? TUNNEL.unnamed)} onClose={onClose}>
      <NewShare name={name} make={make} />
      {made !== undefined && <Made url={made.url} />}
      <p class="error" role="alert">
        {error || (list.error && explain(list.error))}
      </p>
      {shares?.length === 0 && <p class="quiet">{SHARES.none}</p>}
      <ul class="lines">
        {shares?.map((share) => (
          <Share key={share.id} share={share} withdraw={withdraw} />
        ))}
      </ul>
      <div class="row end">
        <button type="button" class="plain" onClick={onClose}>
          {TUNNEL.close}
        </button>
      </div>
    </Modal>
  )
}

interface NewShareProps {
  name: string | undefined
  make: (request: MakeShareRequest) => Promise<void>
}

function NewShare({ name, make }: NewShareProps): VNode {
  const [until, setUntil] = useState<string>(SHARES.ends[0].until)
  const [once, setOnce] = useState(false)
  const [note, setNote] = useState('')
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    setBusy(true)
    await make({
      ...(name !== undefined && { name }),
      ...(until !== '' && { until }),
      once,
      note: note.trim(),
    })
    setNote('')
    setBusy(false)
  }
  return (
    <form class="stack tunnel-form" onSubmit={submit}>
      <label for="share-note">{SHARES.note}</label>
      <input
        id="share-note"
        type="text"
        autocomplete="off"
        maxLength={200}
        value={note}
        onInput={(event) => setNote(event.currentTarget.value)}
      />
      <label for="share-end">{SHARES.end}</label>
      <select id="share-end" value={until} onChange={(event) => setUntil(event.currentTarget.value)}>
        {SHARES.ends.map((end) => (
          <option key={end.until} value={end.until}>
            {end.text}
          </option>
        ))}
      </select>
      <label class="check">
        <input type="checkbox" checked={once} onChange={(event) => setOnce(event.currentTarget.checked)} />
        {SHARES.once}
      </label>
      <div class="row end">
        <button type="submit" disabled={isBusy}>
          {SHARES.make}
        </button>
      </div>
    </form>
  )
}

function Made({ url }: { url: string }): VNode {
  return (
    <div role="status">
      <p class="quiet">{SHARES.made}</p>
      <div class="row address-line">
        <code>{url}</code>
        <CopyButton text={url} label={SHARES.copy} />
      </div>
    </div>
  )
}

interface ShareProps {
  share: AgentShare
  withdraw: (id: string) => Promise<void>
}

function Share({ share, withdraw }: ShareProps): VNode {
  const { id, note } = share
  return (
    <li>
      <span>
        <bdi>{note || id}</bdi>
        <br />
        <span class="quiet">{SHARES.describe(share)}</span>
      </span>
      <button type="button" class="plain small wrong" onClick={() => void withdraw(id)}>
        {SHARES.withdraw}
        <span class="unseen"> {note || id}</span>
      </button>
    </li>
  )
}
