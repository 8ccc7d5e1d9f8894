// Texts that visitors of the demos read.
import { translatable } from './translate.ts'

export const WEBHOOK = { received: 'Received' } as const

export const NOTE = {
  visitor: (visit: number): string =>
    `You are visitor ${visit}. This page came straight from somebody’s browser tab.`,
  notFound: 'Not found',
  firstPage: 'This site has one page only, and you find it here:',
  onlyGet: 'Only GET and HEAD',
} as const

translatable('WEBHOOK', WEBHOOK)
translatable('NOTE', NOTE)
