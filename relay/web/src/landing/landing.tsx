// The landing page: a diagram in which the user publishes and sees what the relay sees, and then how to from elsewhere.
import { useEffect, useState, type VNode } from '../preact.ts'
import { Link } from '../shell/link.tsx'
import { LANDING } from '../texts/landing.ts'
import { LANGUAGES } from '../texts/language.ts'
import { CodeCard } from './code-card.tsx'
import type { Facts } from './facts.tsx'
import { LiveView } from './live-view.tsx'
import { PublishCard } from './publish-card.tsx'
import { RelayCard } from './relay-card.tsx'
import { VisitorCard } from './visitor-card.tsx'

export function Landing(): VNode {
  return (
    <main class="landing">
      <h1>{LANDING.title}</h1>
      <p class="lead">{LANDING.lead}</p>
      <div class="path">
        <PublishCard />
        <RelayCard />
        <VisitorCard />
      </div>
      <LiveView />
      <h2 class="section">{LANDING.elsewhere}</h2>
      <CodeCard />
      <LaterFacts />
      <h2 class="section">{LANDING.runRelay}</h2>
      <p class="quiet">
        {LANDING.runRelayAbout} <a href="/docs/operate/install/">{LANDING.runRelayHow}</a>
      </p>
      <pre class="card">SVC_URL=https://relay.example.com ACME_AGREE=true svc-relay</pre>
      <footer class="row links">
        <a href="/examples/" target="_blank" rel="noopener">
          {LANDING.more}
        </a>
        <Link to="/sites">{LANDING.sites}</Link>
        <nav class="row" aria-label={LANDING.languages}>
          {Object.entries(LANGUAGES).map(([tag, name]) => (
            <a key={tag} href={`?language=${tag}`} lang={tag} hreflang={tag} dir="auto">
              {name}
            </a>
          ))}
        </nav>
      </footer>
    </main>
  )
}

/** They are below the first screen. The page works without them. */
function LaterFacts(): VNode {
  const [loaded, setLoaded] = useState<{ Facts: typeof Facts } | undefined>(undefined)
  useEffect(() => void import('./facts.tsx').then(setLoaded, () => {}), [])
  return <div class="tables">{loaded && <loaded.Facts />}</div>
}
