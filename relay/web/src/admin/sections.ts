// The sections of the administration: what each needs, when it is there, and its code, which is loaded when it is opened.
import type { Part, Parts } from './admin-data.ts'
import type { Page } from './page-props.ts'
import type { PageId } from './place.ts'

export interface Section {
  needs: readonly Part[]
  load(): Promise<Page<Part>>
  /** Whether the feature is on. */
  isShown?(parts: Pick<Parts, 'load' | 'relay' | 'cache' | 'payments'>): boolean
}

export const PAGES: Readonly<Record<PageId, Section>> = {
  overview: {
    needs: ['leases', 'certificates'],
    load: () => import('./overview/overview.tsx').then(({ Overview }) => Overview),
  },
  sites: {
    needs: ['leases', 'decisions'],
    load: () => import('./sites/sites-page.tsx').then(({ SitesPage }) => SitesPage),
  },
  site: {
    needs: ['decisions'],
    load: () => import('./sites/site-page.tsx').then(({ SitePage }) => SitePage),
  },
  access: {
    needs: ['leases', 'decisions', 'invitations', 'pinned'],
    load: () => import('./access/access-page.tsx').then(({ AccessPage }) => AccessPage),
  },
  certificates: {
    needs: ['certificates'],
    load: () => import('./certificates-card.tsx').then(({ CertificatesPage }) => CertificatesPage),
  },
  dns: {
    needs: ['relay'],
    load: () => import('./dns-card.tsx').then(({ DnsPage }) => DnsPage),
    isShown: ({ relay }) => relay.ens.provider !== '',
  },
  cache: {
    needs: ['cache', 'decisions'],
    load: () => import('./stored-sites-card.tsx').then(({ CachePage }) => CachePage),
    isShown: ({ cache }) => cache.max_bytes > 0,
  },
  relays: {
    needs: ['decisions'],
    load: () => import('./access/bans-card.tsx').then(({ RelaysPage }) => RelaysPage),
    isShown: ({ relay }) => relay.discovery === true,
  },
  payments: {
    needs: ['payments'],
    load: () => import('./payments-card.tsx').then(({ PaymentsPage }) => PaymentsPage),
    isShown: ({ payments }) => payments.enabled,
  },
  machines: {
    needs: [],
    load: () => import('./machines-card.tsx').then(({ MachinesPage }) => MachinesPage),
    isShown: ({ load }) => load.machines !== undefined,
  },
  domains: {
    needs: ['leases', 'decisions'],
    load: () => import('./domains-page.tsx').then(({ DomainsPage }) => DomainsPage),
    isShown: ({ relay }) => relay.extensions.includes('custom_domains'),
  },
  settings: {
    needs: ['administrators'],
    load: () => import('./settings-card.tsx').then(({ SettingsPage }) => SettingsPage),
  },
  history: {
    needs: ['changes'],
    load: () => import('./history/history-page.tsx').then(({ HistoryPage }) => HistoryPage),
  },
}
