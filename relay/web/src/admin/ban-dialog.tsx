// Asks why somebody is banned and until when, before a ban.
import { BAN_REASON_MAX_CHARS } from '@svc/protocol'
import { formatTime } from '../common/format.ts'
import { Modal } from '../common/modal.tsx'
import { Store, useStore } from '../common/store.ts'
import { useState, type VNode } from '../preact.ts'
import { BAN } from '../texts/admin.ts'
import { COMMON } from '../texts/common.ts'
import type { BanTerms } from './change-request.ts'

interface Question {
  title: string
  about: string
  answer(terms: BanTerms | undefined): void
}

const question: Store<Question | undefined> = new Store<Question | undefined>(undefined)

const HOUR_MS = 3_600_000
const ENDS = { never: undefined, hour: HOUR_MS, day: 24 * HOUR_MS, week: 168 * HOUR_MS, month: 720 * HOUR_MS }
type End = keyof typeof ENDS

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
  const [end, setEnd] = useState<End>('never')
  const ban = (event: Event): void => {
    event.preventDefault()
    const ms = ENDS[end]
    const text = reason.trim()
    answer({
      ...(text !== '' && { reason: text }),
      ...(ms !== undefined && { until: new Date(Date.now() + ms).toISOString() }),
    })
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
        <select id="ban-end" value={end} onChange={(event) => setEnd(event.currentTarget.value as End)}>
          {Object.entries(BAN.ends).map(([id, name]) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
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
