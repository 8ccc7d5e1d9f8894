// Asks why somebody is banned and until when, before a ban.
import { BAN_REASON_MAX_CHARS } from '@svc/protocol'
import { formatTime } from '../common/format.ts'
import { Modal } from '../common/modal.tsx'
import { Store, useStore } from '../common/store.ts'
import { useRef, useState, type VNode } from '../preact.ts'
import { BAN } from '../texts/admin.ts'
import { COMMON } from '../texts/common.ts'
import { type BanEnd, fieldTime, isFuture, nextMinute, tomorrow, untilOf } from './ban-end.ts'
import type { BanTerms } from './change-request.ts'

interface Question {
  title: string
  about: string
  answer(terms: BanTerms | undefined): void
}

const question: Store<Question | undefined> = new Store<Question | undefined>(undefined)

/** Resolves with the terms of the ban; undefined when the administrator changed their mind. */
export function askBan(who: string, about: string): Promise<BanTerms | undefined> {
  const { promise, resolve } = Promise.withResolvers<BanTerms | undefined>()
  question.set({
    title: BAN.title(who),
    about,
    answer: (terms) => {
      question.set(undefined)
      resolve(terms)
    },
  })
  return promise
}

export function BanDialog(): VNode | null {
  const now = useStore(question)
  return now === undefined ? null : <Asked {...now} />
}

function Asked({ title, about, answer }: Question): VNode {
  const [reason, setReason] = useState('')
  const [end, setEnd] = useState<BanEnd>('never')
  const [typed, setTyped] = useState(() => fieldTime(tomorrow()))
  const time = useRef<HTMLInputElement>(null)
  const ban = (event: Event): void => {
    event.preventDefault()
    // The field was checked when it was typed into; the clock has gone on.
    if (end === 'chosen' && !isFuture(typed)) {
      time.current?.setCustomValidity(BAN.isPast)
      time.current?.reportValidity()
      return
    }
    const text = reason.trim()
    const until = untilOf(end, typed)
    answer({ ...(text !== '' && { reason: text }), ...(until !== undefined && { until }) })
  }
  return (
    <Modal title={title} onClose={() => answer(undefined)}>
      <p>{about}</p>
      <form class="stack" onSubmit={ban}>
        <label for="ban-reason">{BAN.reason}</label>
        <input
          id="ban-reason"
          maxlength={BAN_REASON_MAX_CHARS}
          value={reason}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
        <label for="ban-end">{BAN.end}</label>
        <select id="ban-end" value={end} onChange={(event) => setEnd(event.currentTarget.value as BanEnd)}>
          {Object.entries(BAN.ends).map(([id, name]) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
        {end === 'chosen' && (
          <>
            <label for="ban-time">{BAN.time(Intl.DateTimeFormat().resolvedOptions().timeZone)}</label>
            <input
              id="ban-time"
              type="datetime-local"
              required
              ref={time}
              min={fieldTime(nextMinute())}
              value={typed}
              onInput={(event) => {
                event.currentTarget.setCustomValidity('')
                setTyped(event.currentTarget.value)
              }}
            />
          </>
        )}
        <div class="row end">
          <button type="button" class="plain" onClick={() => answer(undefined)}>
            {COMMON.cancel}
          </button>
          <button type="submit" class="danger">
            {BAN.ban}
          </button>
        </div>
      </form>
    </Modal>
  )
}

/** Reason and end of a ban as one line; empty without them. */
export function termsText({ reason, until }: BanTerms): string {
  return [reason, until === undefined ? '' : BAN.until(formatTime(until))].filter(Boolean).join(' · ')
}
