// The page of `npm start`: it explains the warning before it appears, and leads to the relay once this browser trusts it.
import { AuthorityFiles, OtherSystems, StepsHere } from '../authority/parts.tsx'
import { thisBrowser } from '../authority/this-browser.ts'
import { authorityName } from '../common/authority.ts'
import { CopyableCode } from '../common/copyable-code.tsx'
import { usePoll } from '../common/poll.ts'
import { useEffect, useState, type VNode } from '../preact.ts'
import { AUTHORITY, BROWSERS, START } from '../texts/authority.ts'
import { COMMON } from '../texts/common.ts'
import { loadStarted, lookForTrust, type Started, type Trust } from './trust.ts'

/** Milliseconds between two looks, while the page is visible. */
const LOOK_MS = 2000

type State = Trust | 'checking'

export function Start(): VNode {
  const [started, setStarted] = useState<Started | undefined>(undefined)
  const { data } = usePoll(async () => {
    const found = await loadStarted().catch(() => undefined)
    if (found === undefined) return 'gone'
    setStarted(found)
    return await lookForTrust(found)
  }, LOOK_MS)
  const state: State = data ?? 'checking'
  useEffect(() => {
    if (state === 'trusted') location.replace(started!.relay)
  }, [state])
  return (
    <>
      <header class="top">
        <strong class="mark">
          <img src="/favicon.svg" alt="" width={24} height={24} />
          {COMMON.name}
        </strong>
      </header>
      <main class="authority">
        <h1>{START.title}</h1>
        <Status state={state} relay={started?.relay} />
        {started !== undefined && (state === 'untrusted' || state === 'unresolved') && (
          <HowToTrust started={started} />
        )}
      </main>
    </>
  )
}

function Status({ state, relay = '' }: { state: State; relay: string | undefined }): VNode {
  return (
    <p class="trust" data-state={state} role="status">
      {state === 'unresolved' ? START.unresolved(new URL(relay).hostname) : START[state]}{' '}
      {state === 'trusted' && <a href={relay}>{relay}</a>}
    </p>
  )
}

function HowToTrust({ started: { relay, file } }: { started: Started }): VNode {
  const { hostname } = new URL(relay)
  const { browser } = thisBrowser()
  return (
    <>
      <section aria-labelledby="why">
        <h2 id="why">{START.why}</h2>
        <p>{AUTHORITY.lead(hostname)}</p>
        <p>{START.unlessTrusted(BROWSERS[browser], hostname, START.warning[browser])}</p>
        <p class="quiet">{AUTHORITY.limits(hostname)}</p>
      </section>
      <StepsHere host={hostname} file={file} />
      {file === undefined ? (
        <section class="card" aria-labelledby="compare">
          <h2 id="compare">{START.compareTitle}</h2>
          <p>{START.compare}</p>
        </section>
      ) : (
        <section class="card" aria-labelledby="demo">
          <h2 id="demo">{START.throwAway}</h2>
          <p class="quiet">{START.throwAwayAbout}</p>
          <CopyableCode code={START.demo} label={START.copyDemo} />
        </section>
      )}
      <AuthorityFiles />
      <OtherSystems host={hostname} file={file} />
      <p class="quiet">{AUTHORITY.remove(authorityName(hostname))}</p>
    </>
  )
}
