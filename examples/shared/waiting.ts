// Says why a site waits, in words for the page that publishes it.
import type { Waiting } from '@svc/sdk-browser'

export function waitingText({ reason, until }: Waiting): string {
  const time = until === undefined ? '' : new Date(until).toLocaleTimeString()
  switch (reason) {
    case 'approval':
      return "The relay's operator has to approve this site first."
    case 'rate_limited':
      return `The relay asked to wait${time && ` until ${time}`}.`
    case 'relay_full':
      return `The relay has no room${time && `; it is asked again at ${time}`}.`
    case 'certificate':
      return `The site waits for its certificate${time && `; the relay is asked again at ${time}`}.`
  }
}
