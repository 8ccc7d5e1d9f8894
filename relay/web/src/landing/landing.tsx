// The landing page: explains the relay and shows three ways to publish.
import { hasDevelopmentCa } from '../common/authority.ts'
import { CopyButton } from '../common/copy-button.tsx'
import type { ComponentChildren, VNode } from '../preact.ts'
import { Link } from '../shell/link.tsx'
import { LANDING } from '../texts/landing.ts'
import { PublishCard } from './publish-card.tsx'

const COMMAND = `svc expose 3000 --relay ${location.origin}`
const CODE = `import { publish } from '@svc/sdk-browser'

const site = await publish({
  relay: '${location.origin}',
  name: 'demo',
  fetch: (request) => new Response('Hello\\n'),
})`

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
        {hasDevelopmentCa && (
          <>
            {LANDING.ownAuthority} <Link to="/ca">{LANDING.toAuthority}</Link>.
          </>
        )}
      </Snippet>
      <Snippet
        id="code"
        title={LANDING.codeTitle}
        about={LANDING.codeAbout}
        code={CODE}
        copy={LANDING.copyCode}
      />
      <p class="row links">
        <a href="/examples/" target="_blank" rel="noopener">
          {LANDING.more}
        </a>
        <Link to="/sites">{LANDING.sites}</Link>
      </p>
    </main>
  )
}

interface SnippetProps {
  id: string
  title: string
  about: string
  code: string
  /** Label of the copy button. */
  copy: string
  children?: ComponentChildren
}

function Snippet({ id, title, about, code, copy, children }: SnippetProps): VNode {
  return (
    <section class="card" aria-labelledby={`${id}-heading`}>
      <h2 id={`${id}-heading`}>
        {title} <CopyButton text={code} label={copy} />
      </h2>
      <p class="quiet">{about}</p>
      <pre>{code}</pre>
      {children && <p class="quiet">{children}</p>}
    </section>
  )
}
