// The card with which the user publishes a demo site from this tab.
import { formatClock } from '../common/format.ts'
import { useStore } from '../common/store.ts'
import { useState, type VNode } from '../preact.ts'
import { LANDING } from '../texts/landing.ts'
import { SITE_STATES, waitingText } from '../texts/site-states.ts'
import type { Kind } from './demos/demo.ts'
import { type Publication, publication, start, stop } from './publication.ts'
import { PublishedSite } from './published-site.tsx'

const KINDS: readonly Kind[] = ['hello', 'folder', 'webhook']

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
      {isOpen ? <Published {...now} /> : <Choice previous={now?.kind ?? 'hello'} />}
      <p class="error" role="alert">
        {now?.error}
      </p>
      {now !== undefined && isOpen && <More kind={now.kind} />}
    </section>
  )
}

function nextAttempt(until: number | undefined): string | undefined {
  return until === undefined ? undefined : LANDING.nextAttempt(formatClock(until))
}

function Choice({ previous }: { previous: Kind }): VNode {
  const [kind, setKind] = useState<Kind>(previous)
  const [isListed, setListed] = useState(false)
  const [isAsking, setAsking] = useState(false)
  const submit = (event: Event): void => {
    event.preventDefault()
    // The addresses of the other two grant access, so they are never listed.
    // Nothing that calls a webhook waits.
    void start(kind, { isListed: kind === 'hello' && isListed, isAsking: kind !== 'webhook' && isAsking })
  }
  const ask = (): void => {
    setAsking(!isAsking)
    if (!isAsking) import('./knock-notification.ts').then(({ askForNotifications }) => askForNotifications())
  }
  return (
    <form onSubmit={submit}>
      <fieldset class="kinds">
        <legend>{LANDING.kindsLabel}</legend>
        {KINDS.map((one) => (
          <label key={one} class="kind">
            <input type="radio" name="kind" checked={kind === one} onChange={() => setKind(one)} />
            <span>
              <strong>{LANDING.kinds[one].name}</strong>
              <span class="quiet">{LANDING.kinds[one].about}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <div class="row">
        <button type="submit">{LANDING.publish}</button>
        <label class="check" hidden={kind !== 'hello'}>
          <input type="checkbox" checked={isListed} onChange={() => setListed(!isListed)} />
          {LANDING.listed}
        </label>
        <label class="check" hidden={kind === 'webhook'}>
          <input type="checkbox" checked={isAsking} onChange={ask} />
          {LANDING.asking}
        </label>
      </div>
    </form>
  )
}

function Published(now: Publication): VNode {
  return (
    <>
      <p class="quiet">{LANDING.kinds[now.kind].about}</p>
      <PublishedSite {...now} />
      <button type="button" class="plain" disabled={now.state === 'connecting'} onClick={stop}>
        {LANDING.stop}
      </button>
    </>
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
