// Texts of all pages.

export const COMMON = {
  name: 'svc',
  sites: 'Sites',
  examples: 'Examples',
  admin: 'Admin',
  authority: 'Trust this relay',
  navigation: 'Pages',
  copy: 'Copy',
  copied: 'Copied',
  copyRefused: 'Not allowed',
  cancel: 'Cancel',
  close: 'Close',
  loading: 'Loading …',
  notLoaded: 'This page could not be loaded. Reload to try again.',
  noAnswer: 'The relay does not answer.',
  unreachable: 'The relay does not answer. What you see is from before; it is asked again until it does.',
} as const
