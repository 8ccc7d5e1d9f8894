// The first part of the diagram: this tab, with the form that publishes from it.
import { formatClock } from '../common/format.ts'
import { SecretField } from '../common/secret-field.tsx'
import { useStore } from '../common/store.ts'
import { useEffect, useRef, useState, type VNode } from '../preact.ts'
import { LANDING } from '../texts/landing.ts'
import { SITE_STATES, waitingText } from '../texts/site-states.ts'
import type { Choices } from './choices.ts'
import type { Kind } from './demos/demo.ts'
import { lastChoices, type Publication, publication, start, stop, write } from './publication.ts'
import { PublishedSite } from './published-site.tsx'
import { WhoMayComeIn } from './who-may-come-in.tsx'

const KINDS: readonly Kind[] = ['note', 'folder', 'webhook']

export function PublishCard(): VNode {
  const now = useStore(publication)
  const isOpen = now !== undefined && now.state !== 'closed'
  return (
    <section class="card publish" aria-labelledby="publish-heading">
      <h2 id="publish-heading">
        {LANDING.publishTitle}
        {now !== undefined && (
          <output class="state" data-state={now.state}>
            {SITE_STATES[now.state]}
          </output>
        )}
      </h2>
      <p class="quiet" role="status">
        {now?.waiting && waitingText(now.waiting.reason, nextAttempt(now.waiting.until))}
      </p>
      {isOpen ? <Published {...now} /> : <Choice previous={now} />}
      <p class="error" role="alert">
        {now?.fault === undefined && now?.error}
      </p>
      {now !== undefined && isOpen && <More kind={now.kind} />}
    </section>
  )
}

function nextAttempt(until: number | undefined): string | undefined {
  return until === undefined ? undefined : LANDING.nextAttempt(formatClock(until))
}

function Choice({ previous }: { previous: Publication | undefined }): VNode {
  const [kind, setKind] = useState<Kind>(previous?.kind ?? 'note')
  const [choices, setChoices] = useState<Choices>(lastChoices)
  const [invitation, setInvitation] = useState('')
  const set = (change: Partial<Choices>): void => setChoices((now) => ({ ...now, ...change }))
  const submit = (event: Event): void => {
    event.preventDefault()
    void start(kind, choices, invitation.trim())
  }
  const errorOf = (field: Publication['fault']): string =>
    previous?.fault === field ? (previous?.error ?? '') : ''
  return (
    <form onSubmit={submit}>
      <Kinds kind={kind} onChange={setKind} />
      {kind === 'note' ? (
        <Note text={choices.note} onInput={(note) => set({ note })} />
      ) : (
        <p class="quiet about">{LANDING.kinds[kind].about}</p>
      )}
      <WhoMayComeIn choices={choices} set={set} canAsk={kind !== 'webhook'} error={errorOf('password')} />
      {previous?.fault === 'invitation' && (
        <SecretField
          id="invitation"
          autocomplete="off"
          label={LANDING.invitation}
          about={LANDING.invitationAbout}
          value={invitation}
          error={errorOf('invitation')}
          onInput={setInvitation}
        />
      )}
      <div class="row">
        <button type="submit">{LANDING.publish}</button>
        <label class="check" hidden={kind !== 'note'}>
          <input
            type="checkbox"
            checked={choices.isListed}
            onChange={() => set({ isListed: !choices.isListed })}
          />
          {LANDING.listed}
        </label>
      </div>
    </form>
  )
}

function Kinds({ kind, onChange }: { kind: Kind; onChange(kind: Kind): void }): VNode {
  return (
    <fieldset class="kinds">
      <legend>{LANDING.kindsLabel}</legend>
      {KINDS.map((one) => (
        <label key={one} class="kind">
          <input type="radio" name="kind" checked={kind === one} onChange={() => onChange(one)} />
          <span>{LANDING.kinds[one].name}</span>
        </label>
      ))}
    </fieldset>
  )
}

/** The rows of the text field: as high as what the other kinds show after publishing. */
const NOTE_ROWS = 4

function Note({ text, onInput }: { text: string; onInput(text: string): void }): VNode {
  return (
    <label class="note">
      {LANDING.note}
      <textarea
        name="note"
        rows={NOTE_ROWS}
        spellcheck={false}
        value={text}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </label>
  )
}

function Published(now: Publication): VNode {
  const top = useRef<HTMLDivElement>(null)
  // The button that had the focus is gone: the keyboard goes on where the address will be.
  useEffect(() => {
    if (document.activeElement === document.body) top.current?.focus({ preventScroll: true })
  }, [])
  const [note, setNote] = useState(() => lastChoices().note)
  const change = (text: string): void => {
    setNote(text)
    write(text)
  }
  return (
    <div ref={top} tabIndex={-1} class="content">
      <PublishedSite {...now} />
      {now.kind === 'note' && <Note text={note} onInput={change} />}
      <button type="button" class="plain" disabled={now.state === 'connecting'} onClick={stop}>
        {LANDING.stop}
      </button>
    </div>
  )
}

function More({ kind }: { kind: Kind }): VNode {
  const { href, text } = LANDING.moreOf[kind]
  return (
    <p class="more">
      <a href={href} target="_blank" rel="noopener">
        {text}
      </a>
    </p>
  )
}
