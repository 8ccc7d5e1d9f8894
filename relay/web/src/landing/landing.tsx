// The landing page: explains the relay and shows three ways to publish.
import { hasDevelopmentCa } from '../common/authority.ts'
import { CopyButton } from '../common/copy-button.tsx'
import type { VNode } from '../preact.ts'
import { Link } from '../shell/link.tsx'
import { LANDING } from '../texts/landing.ts'
import { EmbedCard } from './embed-card.tsx'
import { PublishCard } from './publish-card.tsx'
import { Snippet } from './snippet.tsx'

const COMMAND = `svc expose 3000 --relay ${location.origin}`
/** A development CA is in the file that its page offers. */
const INSTALL = hasDevelopmentCa
  ? `curl -fsSL --cacert svc-ca.pem ${location.origin}/api/install.sh | SVC_CA=svc-ca.pem sh`
  : `curl -fsSL ${location.origin}/api/install.sh | sh`

export function Landing(): VNode {
  return (
    <main>
      <h1>{LANDING.title}</h1>
      <p>{LANDING.lead(location.host)}</p>
      <p class="quiet">{LANDING.trust}</p>
      <PublishCard />
      <Snippet
        id="shell"
        title={LANDING.shellTitle}
        about={LANDING.shellAbout}
        code={COMMAND}
        copy={LANDING.copyCommand}
      >
        <p class="quiet">
          {LANDING.installAbout(location.origin)}{' '}
          <CopyButton text={INSTALL} label={LANDING.copyInstallation} />
        </p>
        <pre>{INSTALL}</pre>
        {hasDevelopmentCa && (
          <p class="quiet">
            {LANDING.ownAuthority} <Link to="/ca">{LANDING.toAuthority}</Link>.
          </p>
        )}
      </Snippet>
      <EmbedCard />
      <p class="row links">
        <a href="/examples/" target="_blank" rel="noopener">
          {LANDING.more}
        </a>
        <Link to="/sites">{LANDING.sites}</Link>
      </p>
    </main>
  )
}
