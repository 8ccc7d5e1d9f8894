// What the pages about the development CA are made of: the steps for each system, the files, the fingerprint.
import { AUTHORITY_FILE } from '../authority-files.ts'
import { authorityName, loadFingerprint } from '../common/authority.ts'
import { CopyableCode } from '../common/copyable-code.tsx'
import { useEffect, useState, type VNode } from '../preact.ts'
import { AUTHORITY, BROWSERS, type Steps } from '../texts/authority.ts'
import { COMMON } from '../texts/common.ts'
import { thisBrowser } from './this-browser.ts'

interface Of {
  /** The relay's host. */
  host: string
  /** The path of the certificate, as a word of a shell, where the reader is at the relay's machine. */
  file?: string | undefined
}

/** The steps for the browser that shows the page. */
export function StepsHere({ host, file }: Of): VNode {
  const { browser, steps } = thisBrowser()
  const here = AUTHORITY.systems(authorityName(host), file).find(({ id }) => id === steps)!
  return (
    <section class="card" aria-labelledby={here.id}>
      <h2 id={here.id}>{AUTHORITY.here(BROWSERS[browser], here.title)}</h2>
      <StepList of={here} />
    </section>
  )
}

export function OtherSystems({ host, file }: Of): VNode {
  const { steps } = thisBrowser()
  const others = AUTHORITY.systems(authorityName(host), file).filter(({ id }) => id !== steps)
  return (
    <section class="card" aria-labelledby="others">
      <h2 id="others">{AUTHORITY.others}</h2>
      {others.map((one) => (
        <details key={one.id}>
          <summary>{one.title}</summary>
          <StepList of={one} />
        </details>
      ))}
    </section>
  )
}

function StepList({ of: { title, steps, more } }: { of: Steps }): VNode {
  return (
    <>
      <ol>
        {steps.map((step) =>
          typeof step === 'string' ? (
            <li key={step}>{step}</li>
          ) : (
            <li key={step.text}>
              {step.text}
              <CopyableCode code={step.code} label={AUTHORITY.copy(title)} />
            </li>
          ),
        )}
      </ol>
      {more !== undefined && <p class="quiet">{more}</p>}
    </>
  )
}

export function AuthorityFiles(): VNode {
  return (
    <section class="card" aria-labelledby="files">
      <h2 id="files">{AUTHORITY.filesTitle}</h2>
      <ul class="files">
        {AUTHORITY.files.map(({ format, name, about }) => (
          <li key={format}>
            <a href={AUTHORITY_FILE[format]}>{name}</a>
            <span class="quiet">{about}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The fingerprint, and the command that shows it at the relay's machine. */
export function Fingerprint(): VNode {
  const [fingerprint, setFingerprint] = useState<string>(COMMON.loading)
  useEffect(() => {
    loadFingerprint().then(setFingerprint, () => setFingerprint(AUTHORITY.noFingerprint))
  }, [])
  return (
    <section class="card" aria-labelledby="check">
      <h2 id="check">{AUTHORITY.checkTitle}</h2>
      <p class="quiet">{AUTHORITY.checkAbout}</p>
      <pre class="fingerprint">{fingerprint}</pre>
      <p class="quiet">{AUTHORITY.checkHow}</p>
      <CopyableCode code={AUTHORITY.checkCommand} label={AUTHORITY.copyCheck} />
    </section>
  )
}
