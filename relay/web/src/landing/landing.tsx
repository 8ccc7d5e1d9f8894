// The landing page: a diagram in which the user publishes and sees what the relay sees, and then how to from elsewhere.
import type { VNode } from '../preact.ts'
import { Link } from '../shell/link.tsx'
import { COMPARISON, WHO_SEES } from '../texts/facts.ts'
import { LANDING } from '../texts/landing.ts'
import { LANGUAGES } from '../texts/language.ts'
import { CodeCard } from './code-card.tsx'
import { FactsTable } from './facts-table.tsx'
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
      <FactsTable id="sees" {...WHO_SEES} />
      <FactsTable id="comparison" {...COMPARISON} />
      <p class="row links">
        <a href="/examples/" target="_blank" rel="noopener">
          {LANDING.more}
        </a>
        <Link to="/sites">{LANDING.sites}</Link>
      </p>
      <p class="row links">
        {Object.entries(LANGUAGES).map(([tag, name]) => (
          <a key={tag} href={`?language=${tag}`} lang={tag} hreflang={tag} dir="auto">
            {name}
          </a>
        ))}
      </p>
    </main>
  )
}
