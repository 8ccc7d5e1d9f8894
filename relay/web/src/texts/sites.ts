// Texts of the list of sites.

export const SITES = {
  title: 'Sites',
  lead: 'These sites are published through this relay now and ask to be listed. The list updates itself.',
  ens: 'ENS names',
  ensTitle: 'Wallets and apps that know ENS find the address of each site’s identity by its hostname',
  search: 'Search',
  tags: 'Tags',
  count: (shown: number, all: number): string => {
    const total = all === 1 ? '1 site' : `${all.toLocaleString('en')} sites`
    return shown === all ? total : `${shown.toLocaleString('en')} of ${total}`
  },
  none: 'Nobody publishes here at the moment.',
  first: 'Publish from a tab',
  noMatch: 'No site matches.',
  list: 'Published sites',
  ready: 'ready',
  notReady: 'not ready',
  readyTitle: (sessions: number): string => `${sessions} sessions wait for visitors`,
  notReadyTitle: 'No session waits for visitors: the site may be busy or offline',
  by: (owner: string): string => `by ${owner}`,
} as const
