// The first part of the diagram: this tab, with the form that publishes from it.
import { formatClock } from '../common/format.ts'
import { SecretField } from '../common/secret-field.tsx'
import { useStore } from '../common/store.ts'
import { useEffect, useRef, useState, type VNode } from '../preact.ts'
import { LANDING } from '../texts/landing.ts'
import { SITE_STATES, waitingText } from '../texts/site-states.ts'
import { start, stop, write } from './actions.ts'
import { arrived, takeArrived } from './arrived.ts'
import { type Choices, type Fault, wantedName } from './choices.ts'
import type { Kind } from './demos/demo.ts'
import { shelf } from './demos/shelf.ts'
import { isDragging, takeDrops } from './dropped-files.ts'
import { FolderFiles } from './folder-files.tsx'
import { NameField } from './name-field.tsx'
import { Options } from './options.tsx'
import { chooseKind, lastChoices, lastKind, type Publication, publication } from './publication.ts'
import { PublishedSite, Visits } from './published-site.tsx'
import type { ScreenSwitch } from './screen-switch.tsx'
import type { Shared } from './share-target/shared.ts'

const KINDS: readonly Kind[] = ['note', 'folder', 'webhook', 'chat', 'tools']

export function PublishCard(): VNode {
  const now = useStore(publication)
  const isOver = useStore(isDragging)
  const isOpen = now !== undefined && now.state !== 'closed'
  const card = useRef<HTMLElement>(null)
  const wasOpen = useRef(isOpen)
  // The button that stopped the site is gone: the keyboard goes on where one publishes.
  useEffect(() => {
    const isLost = wasOpen.current && !isOpen && document.activeElement === document.body
    if (isLost) card.current?.querySelector<HTMLElement>('[type="submit"]')?.focus({ preventScroll: true })
    wasOpen.current = isOpen
  }, [isOpen])
  useEffect(takeDrops, [])
  return (
    <section ref={card} class="card publish" aria-labelledby="publish-heading" data-over={isOver}>
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

interface Wrong {
  fault: Fault
  error: string
}

function Choice({ previous }: { previous: Publication | undefined }): VNode {
  const kind = useStore(lastKind)
  const choices = useStore(lastChoices)
  const [invitation, setInvitation] = useState('')
  /** What is wrong is found here, or by the relay. */
  const [wrong, setWrong] = useState<Wrong | undefined>(undefined)
  useEffect(() => setWrong(previous && { fault: previous.fault, error: previous.error }), [previous])
  const [taken, setTaken] = useState('')
  const publish = useRef<HTMLButtonElement>(null)
  const gift = useStore(arrived)
  useEffect(() => {
    if (gift === undefined) return
    setTaken(typeof gift === 'string' ? LANDING.notArrived[gift] : LANDING.arrived(nameOf(gift)))
    if (typeof gift === 'string') return arrived.set(undefined)
    chooseKind(takeArrived(gift))
    publish.current?.focus()
  }, [gift])
  const set = (change: Partial<Choices>): void => lastChoices.set({ ...lastChoices.value, ...change })
  const submit = (event: Event): void => {
    event.preventDefault()
    const name = wantedName(choices.name)
    if (name === undefined) setWrong({ fault: 'name', error: LANDING.noName })
    else if (kind === 'folder' && shelf.value.files.size === 0)
      setWrong({ fault: 'files', error: LANDING.noFiles })
    else void start(kind, { ...choices, name }, invitation.trim())
  }
  const errorOf = (field: Fault): string => (wrong && wrong.fault === field ? wrong.error : '')
  return (
    <form onSubmit={submit} noValidate>
      <p class="arrived" role="status">
        {taken}
      </p>
      <Kinds kind={kind} onChange={chooseKind} />
      <div class="content-of-kind">
        {kind === 'note' && <Note text={choices.note} onInput={(note) => set({ note })} />}
        {kind === 'folder' && <FolderFiles error={errorOf('files')} isOnline={false} />}
        {kind !== 'note' && <p class="quiet about">{LANDING.kinds[kind].about}</p>}
      </div>
      <NameField
        choices={choices}
        set={set}
        error={errorOf('name')}
        isSecret={kind !== 'note' && kind !== 'chat'}
      />
      <Options choices={choices} set={set} kind={kind} error={errorOf('password')} />
      {wrong?.fault === 'invitation' && (
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
      <button ref={publish} type="submit">
        {LANDING.publish}
      </button>
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

/** The rows of the text field: as high as what the other kinds show. */
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
  const hasUrl = now.url !== ''
  // The button that had the focus is gone: the keyboard goes on where the address will be, and then at the address.
  useEffect(() => {
    const { activeElement } = document
    if (activeElement !== document.body && activeElement !== top.current) return
    const place = hasUrl ? top.current?.querySelector('a') : top.current
    place?.focus({ preventScroll: true })
  }, [hasUrl])
  const [note, setNote] = useState(() => lastChoices.value.note)
  const change = (text: string): void => {
    setNote(text)
    void write(text)
  }
  return (
    <div ref={top} tabIndex={-1} class="content">
      <ArrivedMeanwhile kind={now.kind} />
      <PublishedSite {...now} />
      {now.kind === 'note' && <Note text={note} onInput={change} />}
      <div class="row">
        <button type="button" class="plain" disabled={now.state === 'connecting'} onClick={() => void stop()}>
          {LANDING.stop}
        </button>
        {'wakeLock' in navigator && <Screen />}
      </div>
      {(now.kind === 'note' || now.kind === 'folder') && (
        <Visits visits={now.visits} count={now.visitCount} />
      )}
    </div>
  )
}

/** A share opens the page anew, which publishes its site again before anything else. */
function ArrivedMeanwhile({ kind }: { kind: Kind }): VNode | null {
  const gift = useStore(arrived)
  if (gift === undefined) return null
  if (typeof gift === 'string') return <p class="arrived">{LANDING.notArrived[gift]}</p>
  if (kind !== 'folder' || gift.files.length === 0)
    return <p class="arrived">{LANDING.arrivedForLater(nameOf(gift))}</p>
  return (
    <p class="arrived">
      {LANDING.arrivedForFolder(nameOf(gift))}{' '}
      <button type="button" onClick={() => takeArrived(gift)}>
        {LANDING.publishToo}
      </button>
    </p>
  )
}

function nameOf({ files: [first, ...more] }: Shared): string {
  if (first === undefined) return LANDING.aText
  return more.length === 0 ? first.name : LANDING.andMore(first.name, more.length)
}

/** The space is reserved. */
function Screen(): VNode {
  const [loaded, setLoaded] = useState<{ ScreenSwitch: typeof ScreenSwitch } | undefined>(undefined)
  useEffect(() => void import('./screen-switch.tsx').then(setLoaded, () => {}), [])
  return <div class="screen">{loaded && <loaded.ScreenSwitch />}</div>
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
