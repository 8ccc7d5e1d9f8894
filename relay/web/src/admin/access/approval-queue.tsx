// The sites that wait for approval, the newest last, so that no row moves under the hand of who decides. One key decides.
import '../../style/admin/queue.css'
import type { PolicyLease } from '@svc/protocol'
import { formatAgo, formatTime } from '../../common/format.ts'
import { sanitizeText } from '../../common/sanitize-text.ts'
import { loadSingleKeys, setSingleKeys, singleKeys } from '../../common/single-keys.ts'
import { useStore } from '../../common/store.ts'
import { useKeys } from '../../common/use-keys.ts'
import { useEffect, useRef, useState, type VNode } from '../../preact.ts'
import { Link } from '../../shell/link.tsx'
import { ACTIONS, QUEUE, SITES } from '../../texts/admin.ts'
import { manyChange } from '../change-request.ts'
import { CopyText } from '../copy-text.tsx'
import type { PageProps } from '../page-props.ts'
import { pathOf, sitePath } from '../place.ts'
import { isWaiting } from '../sites/site-state.ts'
import { ManyActions } from './many-actions.tsx'

/** Rows in the document; the rest follow when these are decided about. */
const ROWS_MAX = 50

type QueueProps = Pick<PageProps<'leases' | 'decisions'>, 'view' | 'act'>

export function ApprovalQueue({ view, act }: QueueProps): VNode {
  const { leases, decisions, policy } = view
  const waiting = leases.filter(isWaiting).sort((a, b) => (a.first_seen_at < b.first_seen_at ? -1 : 1))
  const shown = waiting.slice(0, ROWS_MAX)
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const list = useRef<HTMLUListElement>(null)
  const { index, move, current, focus } = useCurrent(shown, list)
  const decide = async (lease: PolicyLease | undefined, isApproval: boolean): Promise<void> => {
    if (lease !== undefined) await act(manyChange([lease], isApproval ? 'approve' : 'deny', decisions))
  }
  const toggle = (key: string | undefined): void => {
    const next = new Set(selected)
    if (key !== undefined && !next.delete(key)) next.add(key)
    setSelected(next)
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    a: () => void decide(current, true),
    d: () => void decide(current, false),
    x: () => toggle(current?.identity_key),
  })
  if (waiting.length === 0) return <Nobody mode={policy.approval_mode} />
  const chosen = waiting.filter(({ identity_key }) => selected.has(identity_key))
  const areAll = chosen.length === waiting.length
  return (
    <section class="card" aria-labelledby="queue-heading">
      <h2 id="queue-heading">
        {QUEUE.title} <output class="quiet">{QUEUE.count(waiting.length)}</output>
      </h2>
      <Keys />
      <div class="queue-head">
        <label class="check">
          <input
            type="checkbox"
            checked={areAll}
            onChange={() => setSelected(areAll ? new Set() : new Set(waiting.map((one) => one.identity_key)))}
          />
          {SITES.selectAll}
        </label>
        <ManyActions
          selected={chosen}
          decisions={decisions}
          act={act}
          clear={() => setSelected(new Set())}
          hint={QUEUE.hint}
        />
      </div>
      <ul class="lines queue" ref={list}>
        {shown.map((lease, at) => (
          <Row
            key={lease.identity_key}
            lease={lease}
            isCurrent={at === index}
            isSelected={selected.has(lease.identity_key)}
            toggle={() => toggle(lease.identity_key)}
            focus={() => focus(lease.identity_key)}
            decide={(isApproval) => void decide(lease, isApproval)}
          />
        ))}
      </ul>
      {waiting.length > shown.length && <p class="quiet">{QUEUE.more(waiting.length - shown.length)}</p>}
    </section>
  )
}

interface Current {
  index: number
  current: PolicyLease | undefined
  /** Called with the identity key of the row that has the focus. */
  focus(key: string): void
  move(step: number): void
}

/** The row on which the keys act: the one with the focus, or the first. */
function useCurrent(shown: readonly PolicyLease[], list: { current: HTMLUListElement | null }): Current {
  const [key, setKey] = useState('')
  const last = useRef(0)
  const found = shown.findIndex(({ identity_key }) => identity_key === key)
  // The one that was decided about is gone: the next one is in its place.
  const index = found < 0 ? Math.min(last.current, shown.length - 1) : found
  last.current = Math.max(0, index)
  return {
    index,
    current: shown[index],
    focus: setKey,
    move: (step) => {
      const next = Math.max(0, Math.min(shown.length - 1, index + step))
      setKey(shown[next]?.identity_key ?? '')
      list.current?.querySelectorAll<HTMLElement>('[data-key]')[next]?.querySelector('a')?.focus()
    },
  }
}

interface RowProps {
  lease: PolicyLease
  isCurrent: boolean
  isSelected: boolean
  toggle(): void
  focus(): void
  decide(isApproval: boolean): void
}

function Row({ lease, isCurrent, isSelected, toggle, focus, decide }: RowProps): VNode {
  const { identity_key, name, hostname, address, client_ip, first_seen_at, metadata } = lease
  const about = [metadata.owner, metadata.description].map((text) => sanitizeText(text ?? '')).filter(Boolean)
  return (
    <li data-key={identity_key} data-current={isCurrent} onFocusIn={focus}>
      <input type="checkbox" aria-label={SITES.select(name)} checked={isSelected} onChange={toggle} />
      <span class="who">
        <Link to={sitePath(identity_key)}>{hostname}</Link>
        <span class="quiet">
          <CopyText text={address} label={SITES.copyAddress(name)} /> · {client_ip} ·{' '}
          <time dateTime={first_seen_at} title={formatTime(first_seen_at)}>
            {formatAgo(first_seen_at)}
          </time>
          {about.length > 0 && <bdi> · {about.join(' – ')}</bdi>}
        </span>
      </span>
      <span class="row">
        <button
          type="button"
          class="small"
          aria-label={`${ACTIONS.approve}: ${name}`}
          onClick={() => decide(true)}
        >
          {ACTIONS.approve}
        </button>
        <button
          type="button"
          class="plain small"
          aria-label={`${ACTIONS.deny}: ${name}`}
          onClick={() => decide(false)}
        >
          {ACTIONS.deny}
        </button>
      </span>
    </li>
  )
}

function Keys(): VNode {
  const areOn = useStore(singleKeys)
  useEffect(() => void loadSingleKeys(), [])
  return (
    <div class="keys">
      <ul aria-label={QUEUE.keysTitle} data-on={areOn}>
        {QUEUE.keys.map(([key, what]) => (
          <li key={key}>
            <kbd>{key}</kbd> {what}
          </li>
        ))}
      </ul>
      <label class="check">
        <input
          type="checkbox"
          checked={areOn}
          onChange={(event) => setSingleKeys(event.currentTarget.checked)}
        />
        {QUEUE.single}
      </label>
    </div>
  )
}

function Nobody({ mode }: { mode: keyof typeof QUEUE.none }): VNode {
  return (
    <section class="card empty" aria-labelledby="queue-heading">
      <h2 id="queue-heading">{QUEUE.nobody}</h2>
      <p class="quiet">{QUEUE.none[mode]}</p>
      <p>
        <Link to={pathOf('settings')}>{QUEUE.settings}</Link>
      </p>
    </section>
  )
}
