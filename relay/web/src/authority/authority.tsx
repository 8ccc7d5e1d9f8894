// The page about the development CA of a relay on localhost: its files, and how to trust it on each system.
import { AUTHORITY_FILE } from '../authority-files.ts'
import { authorityName, loadFingerprint } from '../common/authority.ts'
import { CopyableCode } from '../common/copyable-code.tsx'
import { useEffect, useState, type VNode } from '../preact.ts'
import { AUTHORITY } from '../texts/authority.ts'
import { COMMON } from '../texts/common.ts'

const HTTPS_PORT = '443'

export function Authority(): VNode {
  const { hostname, port } = location
  return (
    <main class="authority">
      <h1>{AUTHORITY.title}</h1>
      <p>{AUTHORITY.lead(hostname)}</p>
      <p class="quiet">{AUTHORITY.limits(hostname)}</p>
      <Files />
      <Check />
      {AUTHORITY.systems(authorityName).map(({ id, title, steps, more }) => (
        <section key={id} class="card" aria-labelledby={id}>
          <h2 id={id}>{title}</h2>
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
        </section>
      ))}
      <Reach hostname={hostname} port={port || HTTPS_PORT} />
      <p class="quiet">{AUTHORITY.remove(authorityName)}</p>
    </main>
  )
}

function Files(): VNode {
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

function Check(): VNode {
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

function Reach({ hostname, port }: { hostname: string; port: string }): VNode {
  return (
    <section class="card" aria-labelledby="reach">
      <h2 id="reach">{AUTHORITY.reachTitle}</h2>
      <p>{AUTHORITY.reachAbout(hostname)}</p>
      <p class="quiet">{AUTHORITY.reachPhone}</p>
      <CopyableCode code={AUTHORITY.adb(port)} label={AUTHORITY.copyAdb} />
      <p class="quiet">{AUTHORITY.reachComputer}</p>
      <CopyableCode code={AUTHORITY.ssh(port)} label={AUTHORITY.copySsh} />
      <p class="quiet">{AUTHORITY.reachMore}</p>
    </section>
  )
}
