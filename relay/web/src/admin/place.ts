// Maps paths below /admin to the pages of the administration.
import type { SECTIONS } from '../texts/admin.ts'

export type SectionId = keyof typeof SECTIONS
export type PageId = SectionId | 'site'

export interface Place {
  /** Undefined where there is no page. */
  page: PageId | undefined
  /** The section that the navigation marks. */
  section: SectionId | undefined
  /** What follows the section in the path: a part of the section, or the identity key of a site. */
  below: string
}

const IDS: readonly SectionId[] = [
  'overview',
  'sites',
  'access',
  'certificates',
  'dns',
  'cache',
  'relays',
  'payments',
  'machines',
  'domains',
  'settings',
  'history',
]
const ADMIN = '/admin'
const SITES = `${ADMIN}/sites`

export function placeOf(path: string): Place {
  const [, , name = '', below = '', ...rest] = path.replace(/\/$/, '').split('/')
  const section = name === '' || name === 'index.html' ? 'overview' : IDS.find((id) => id === name)
  const isPage = section !== undefined && rest.length === 0 && (below === '' || mayHaveParts(section))
  if (!isPage) return { page: undefined, section: undefined, below: '' }
  return { page: section === 'sites' && below !== '' ? 'site' : section, section, below: decode(below) }
}

export function pathOf(section: SectionId, below = ''): string {
  const path = section === 'overview' ? ADMIN : `${ADMIN}/${section}`
  return below === '' ? path : `${path}/${below}`
}

/** @param key identity key of a site */
export function sitePath(key: string): string {
  return `${SITES}/${key}`
}

function mayHaveParts(section: SectionId): boolean {
  return section === 'sites' || section === 'access'
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
