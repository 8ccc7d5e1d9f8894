// The sidebar: the sections, with the API reference before what few readers open.
import { readPages } from './pages.ts'
import { readReference } from './reference.ts'
import { LABELS, SECTIONS } from './sections.ts'

interface Group {
  label: string
  collapsed: boolean
  items: { label: string; slug: string }[]
}

const REFERENCE_BEFORE = 'Protocol'

export function sidebar(): Group[] {
  const pages = new Map(readPages().map((page) => [page.file, page]))
  const groups = SECTIONS.map(({ label, pages: files, collapsed = false }) => ({
    label,
    collapsed,
    items: files.map((file) => ({
      label: LABELS[file] ?? pages.get(file)?.title ?? '',
      slug: pages.get(file)?.slug || 'index',
    })),
  }))
  const reference = readReference()
    .filter(({ title }) => !title.includes(': '))
    .map(({ slug, title }) => ({ label: slug === 'reference' ? 'Overview' : title, slug }))
  if (reference.length === 0) return groups
  const at = SECTIONS.findIndex(({ label }) => label === REFERENCE_BEFORE)
  return groups.toSpliced(at, 0, { label: 'API reference', collapsed: true, items: reference })
}
