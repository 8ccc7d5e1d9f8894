// Texts of all pages.
import { translatable } from './translate.ts'

export const COMMON = {
  name: 'svc',
  sites: 'Sites',
  relays: 'Relays',
  examples: 'Examples',
  documentation: 'Docs',
  admin: 'Admin',
  authority: 'Trust this relay',
  navigation: 'Pages',
  skip: 'Skip to the content',
  copy: 'Copy',
  copied: 'Copied',
  copyRefused: 'Not allowed',
  show: 'Show',
  showSecret: (label: string): string => `Show: ${label}`,
  cancel: 'Cancel',
  sure: 'Are you sure?',
  yes: 'Yes, do it',
  close: 'Close',
  loading: 'Loading …',
  notLoaded: 'This page could not be loaded. Reload to try again.',
  noAnswer: 'The relay does not answer.',
  unreachable: 'The relay does not answer. This page shows older data and tries again.',
} as const

translatable('COMMON', COMMON)
