// Says why a site waits, in words for the page that publishes it: those of the relay's own page.
import type { Waiting } from '@svc/sdk-browser'

const REASONS = {
  approval: 'The relay’s operator has to approve this site first.',
  rate_limited: 'The relay asked this site to wait.',
  relay_full: 'The relay is full at the moment.',
  certificate: 'The site waits for its certificate.',
} as const satisfies Record<Waiting['reason'], string>

export function waitingText({ reason, until }: Waiting): string {
  const next = until === undefined ? '' : ` (next attempt at ${new Date(until).toLocaleTimeString()})`
  return REASONS[reason] + next
}
