// The landing page: explains the relay and shows three ways to publish.
import type { VNode } from '../preact.ts'
import { Link } from '../shell/link.tsx'
import { LANDING } from '../texts/landing.ts'
import { EmbedCard } from './embed-card.tsx'
import { PublishCard } from './publish-card.tsx'
import { Recorded } from './recorded.tsx'
import { ShellCard } from './shell-card.tsx'

export function Landing(): VNode {
  return (
    <main>
      <h1>{LANDING.title}</h1>
      <p>{LANDING.lead(location.host)}</p>
      <p class="quiet">{LANDING.trust}</p>
      <PublishCard />
      <Recorded />
      <ShellCard />
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
