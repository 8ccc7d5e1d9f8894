// The tables of the landing page: who can see what, and how other ways to publish compare.
import { translatable } from './translate.ts'

/** Answers that begin with this are not marked. */
export const FACTS = { no: 'no' } as const

export const WHO_SEES = {
  title: 'Who can see what',
  columns: ['This tab', 'Relay', 'Visitor'],
  rows: [
    { what: 'Names, addresses, sizes, times', facts: ['yes', 'yes', 'yes'] },
    { what: 'Requests and answers', facts: ['yes', 'no', 'yes'] },
    { what: 'Keys of the connection', facts: ['yes', 'no', 'yes'] },
    { what: 'Files that nobody has asked for', facts: ['yes', 'no', 'no'] },
  ],
  note: 'There is one exception: a site may ask its relay to store files. While the relay has them, it can read the traffic at that site’s canonical address. What you publish on this page does not ask for that.',
} as const

export const COMPARISON = {
  title: 'Compared with other tunnels',
  columns: ['svc', 'ngrok', 'Cloudflare Tunnel', 'Tailscale Funnel'],
  rows: [
    { what: 'Publishes from a web page', facts: ['yes', 'no', 'no', 'no'] },
    { what: 'Works without an account', facts: ['yes', 'no', 'yes, for quick tunnels', 'no'] },
    {
      what: 'The middle cannot read HTTPS',
      facts: ['yes', 'no; yes for TLS endpoints', 'no', 'yes'],
    },
    { what: 'You can run the server', facts: ['yes', 'no', 'no', 'no'] },
    { what: 'Raw TCP for any client', facts: ['yes', 'yes', 'no: needs its client', 'yes, over TLS'] },
    { what: 'A domain of your own', facts: ['yes, with your own key', 'yes', 'yes', 'no'] },
    { what: 'UDP', facts: ['yes', 'no', 'no', 'no'] },
    { what: 'A public server that others run', facts: ['no, not yet', 'yes', 'yes', 'yes'] },
    { what: 'Servers on every continent', facts: ['no', 'yes', 'yes', 'yes'] },
    { what: 'Years of service', facts: ['no, release 0.1', 'yes', 'yes', 'yes'] },
  ],
  note: 'According to the public documentation of each. Tell us what is no longer true.',
} as const

translatable('FACTS', FACTS)
translatable('WHO_SEES', WHO_SEES)
translatable('COMPARISON', COMPARISON)
