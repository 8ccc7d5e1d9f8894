// The page about the development CA of a relay: its files, and how to trust it on each system.
import { isOwnMachine } from '@svc/protocol'

import { authorityName } from '../common/authority.ts'
import { CopyableCode } from '../common/copyable-code.tsx'
import type { VNode } from '../preact.ts'
import { AUTHORITY } from '../texts/authority.ts'
import { AuthorityFiles, Fingerprint, OtherSystems, StepsHere } from './parts.tsx'

const HTTPS_PORT = '443'

export function Authority(): VNode {
  const { hostname, port } = location
  return (
    <main class="authority">
      <h1>{AUTHORITY.title}</h1>
      <p>{AUTHORITY.lead(hostname)}</p>
      <p class="quiet">{AUTHORITY.limits(hostname)}</p>
      <StepsHere host={hostname} />
      <AuthorityFiles />
      <Fingerprint />
      <OtherSystems host={hostname} />
      {isOwnMachine(hostname) && <Reach hostname={hostname} port={port || HTTPS_PORT} />}
      <p class="quiet">{AUTHORITY.remove(authorityName(hostname))}</p>
    </main>
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
